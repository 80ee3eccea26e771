// kill -9 between any two files of a real nginx: the old set comes back, whole and served, and that is told once.

import assert from 'node:assert/strict'
import { basename } from 'node:path'
import { describe, test } from 'node:test'
import { fileURLToPath } from 'node:url'
import type { Variables } from '../support/processes.ts'
import { skipUnlessRunnable } from './support/required-programs.ts'
import {
  assertAppliesAfterOneEvent,
  assertOldSet,
  readSet,
  serveFirst,
  waitForReverted,
} from './support/served-set.ts'
import { AGENT_USER, ServiceHost } from './support/service-host.ts'
import { useServicesHub } from './support/use-services-hub.ts'

const KILLER = fileURLToPath(new URL('./support/kill-before-rename.ts', import.meta.url))

/** Ends of names that a change gives to files, in this order; the journal's are of its phases. */
const KILL_POINTS = [
  '.switching.json',
  '/site.crt',
  '/site.key',
  '/ca.pem',
  '/applied.json',
] as const

describe('kill -9', { skip: skipUnlessRunnable(['nginx', 'openssl']) }, () => {
  const services = useServicesHub()

  test('[TGT-17] kill -9 of `targets apply` before any of its files gets its name, and of what puts them back', async (context) => {
    await using host = await ServiceHost.create(services(), 'fails-killed', AGENT_USER)
    const nginx = await serveFirst(host)
    for (const point of KILL_POINTS) {
      const before = await readSet(host, nginx, await host.newestSerial())
      const entrega = await host.renew()
      const serial = await host.waitForPair(entrega)
      const killed = await host.apply({ extra: killBefore(point) })
      assert.equal(killed.signal, 'SIGKILL', point)
      // The way back is cut short too, wherever there is something to put back.
      const again = await host.apply({ extra: killBefore('/site.crt') })
      const isUntouched = point === '.switching.json' || point === '/site.crt'
      assert.equal(again.signal, isUntouched ? null : 'SIGKILL', point)
      const recovered = isUntouched ? again : await host.apply()
      assert.match(recovered.stdout, /: held back, not before .*: interrupted: /)
      const { payload } = await waitForReverted(host, entrega)
      assert.deepEqual([payload['step'], payload['serial']], ['interrupted', serial])
      await assertOldSet(host, nginx, before)
      await assertAppliesAfterOneEvent(host, nginx, entrega)
      context.diagnostic(`killed before ${basename(point)}`)
    }
  })

  test('[TGT-17] kill -9 of the agent that applies its own targets', async () => {
    await using host = await ServiceHost.create(services(), 'fails-agent', 0)
    const nginx = await serveFirst(host)
    const before = await readSet(host, nginx, await host.newestSerial())
    await host.stop()
    const killed = host.run(killBefore('/site.key'))
    const entrega = await host.renew()
    assert.equal((await killed.ended).signal, 'SIGKILL')
    const half = await readSet(host, nginx, before.serial)
    assert.notEqual(half.files['site.crt'], before.files['site.crt'])
    assert.equal(half.files['site.key'], before.files['site.key'])
    host.run()
    assert.equal((await waitForReverted(host, entrega)).payload['step'], 'interrupted')
    await assertOldSet(host, nginx, before)
    await assertAppliesAfterOneEvent(host, nginx, entrega)
  })
})

/** What a process is started with that is to be killed just before a file gets a name with this end. */
function killBefore(nameEnd: string): Variables {
  return { NODE_OPTIONS: `--import=${KILLER}`, TEST_KILL_BEFORE_RENAME: nameEnd }
}
