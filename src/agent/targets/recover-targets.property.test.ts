import assert from 'node:assert/strict'
import { test } from 'node:test'
import * as fc from 'fast-check'
import { file, kindsOf, TargetHost } from '../../../test/fakes/target-host.ts'
import { propertyRuns } from '../../../test/support/property.ts'

test('[TGT-17] whatever files there are and whenever it is killed, how often it may be, no mixture stays', async () => {
  const paths = ['/etc/a', '/etc/b', '/srv/c', '/srv/d', '/srv/tls/e']
  const formerFile = fc.option(
    fc.record({ text: fc.string({ maxLength: 8 }), mode: fc.constantFrom(0o600, 0o644, 0o440) }),
    { nil: undefined },
  )
  await fc.assert(
    fc.asyncProperty(
      fc.uniqueArray(fc.tuple(fc.constantFrom(...paths), formerFile), {
        minLength: 1,
        selector: ([path]) => path,
      }),
      fc.array(fc.integer({ min: 1, max: 150 }), { maxLength: 4 }),
      fc.boolean(),
      fc.boolean(),
      async (files, kills, reloadFails, hasReload) => {
        const host = new TargetHost(
          files.map(([path]) => path),
          hasReload ? {} : { reload: undefined, probe: undefined },
        )
        // The last directory of a path may be one that the change makes.
        const areThere = files.some(
          ([path, former]) => path === '/srv/tls/e' && former !== undefined,
        )
        if (!areThere) host.disk.removeQuietly('/srv/tls')
        for (const [path, former] of files) {
          if (former !== undefined) host.disk.putFile(path, file(former.text, 7, former.mode))
        }
        const before = host.stand()
        host.served = before
        host.serial = '02'
        host.reloadFails = reloadFails
        for (const at of kills) {
          const start = host.disk.operations
          host.disk.trouble = (operation) => (operation - start === at ? 'kill' : undefined)
          await host.troubledPass()
        }
        const { results, applied } = await host.pass()
        const isOld = ['held_back', 'reverted'].includes(results[0]?.result ?? '')
        assert.deepEqual(host.stand(), isOld ? before : host.whole('02'))
        assert.deepEqual(host.leftovers(), [])
        if (hasReload && host.reloads > 0) assert.deepEqual(host.served, host.stand())
        assert.equal(applied.listReports().length, 1, kindsOf(applied.listReports()).join())
      },
    ),
    propertyRuns(500),
  )
})
