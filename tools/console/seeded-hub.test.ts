import assert from 'node:assert/strict'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { test } from 'node:test'
import { systemClock } from '../../src/platform/clock.ts'
import { findFreePort } from '../../test/support/free-port.ts'
import { startSeededHub } from './seeded-hub.ts'

test('a vault that is kept gives a link of the same name again when it is used again', async (t) => {
  const directory = mkdtempSync(join(tmpdir(), 'cartorio-kept-console-'))
  t.after(() => rmSync(directory, { recursive: true }))
  for (const time of ['first', 'second']) {
    await using hub = await startSeededHub({
      hosts: 100,
      seed: 7,
      isHostile: false,
      keptDirectory: join(directory, 'kept'),
      port: await findFreePort(),
      clock: systemClock,
      progress: () => undefined,
    })
    const link = await hub.makeLink({ name: 'console', role: 'admin', valid_seconds: 600 })
    assert.match(link, /^https:\/\/localhost:\d+\/\S+#code=\S+$/u, time)
  }
})
