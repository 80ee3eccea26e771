// A trust key, which released agents and hubs know nothing of: docs/protocol.md TRK.

import assert from 'node:assert/strict'
import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { test } from 'node:test'
import type { AdminBundle } from '../../src/protocol/admin/views.ts'
import { waitForEvent } from '../support/audit-log.ts'
import { startDevCaProcess } from '../support/dev-ca-process.ts'
import { enrolHost } from '../support/managed-host.ts'
import { TestTrustKey } from '../support/trust-keys.ts'
import { listPairings, OURS, startHubOf } from './pairings.ts'

const key = new TestTrustKey()

for (const { name, skip, programs } of await listPairings()) {
  test(`[VER-6] [TRK-5] [TRK-6] ${name}, where there is a trust key`, { skip }, async () => {
    await using ca = await startDevCaProcess()
    await using hub = await startHubOf(ca, programs.hub)
    if (programs.hub === OURS) {
      const { stdout } = await hub.svc('bundle', 'status', '--json')
      const { numero, roots } = JSON.parse(stdout) as AdminBundle
      const fingerprints = roots.map(({ fingerprint }) => fingerprint)
      const { statement, signature } = key.signSet(fingerprints, { numero: numero + 1 })
      const directory = await mkdtemp(join(tmpdir(), 'trust-'))
      await writeFile(join(directory, 'set.txt'), statement)
      await writeFile(join(directory, 'set.txt.minisig'), signature)
      await writeFile(join(directory, 'key.pub'), key.file)
      const options = ['--trust-key', join(directory, 'key.pub')]
      const signed = await hub.svc('bundle', 'sign', join(directory, 'set.txt'), ...options)
      await rm(directory, { recursive: true })
      assert.equal(signed.status, 0, signed.stderr)
    }
    await using host = await enrolHost(hub, 'web-01', {}, programs.agent)
    const demanding = programs.agent === OURS ? { SVC_AGENT_TRUST_KEY: key.text } : {}
    const running = host.run(programs.agent, demanding)
    await waitForEvent(hub, 'manifest_pulled', host)
    assert.equal(running.hasEnded(), false)
    if (programs.hub === OURS) {
      // Those before 0.4.0 adopt nothing.
      assert.doesNotMatch(running.stderr(), /not adopted/)
    }
  })
}
