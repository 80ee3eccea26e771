// Renewal and recovery between versions: much waiting for certificates to end, so all at the same time.

import assert from 'node:assert/strict'
import { readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { describe, test } from 'node:test'
import { parseCertificatePem } from '../../src/pki/certificates.ts'
import { waitForEvent } from '../support/audit-log.ts'
import { startDevCaProcess } from '../support/dev-ca-process.ts'
import { enrolHost, type ManagedHost } from '../support/managed-host.ts'
import { waitUntil } from '../support/processes.ts'
import { deliver } from './host-story.ts'
import { listPairings, startHubOf } from './pairings.ts'

const pairings = await listPairings()

describe('certificates that end soon', { concurrency: true }, () => {
  for (const { name, skip, programs } of pairings) {
    test(`[VER-6] ${name} renews identity and pair`, { skip }, async () => {
      await using ca = await startDevCaProcess({ certDuration: '20s' })
      await using hub = await startHubOf(ca, programs.hub)
      await using host = await enrolHost(hub, 'brief', {}, programs.agent)
      host.run()
      await deliver(hub, host, 'site')
      for (const nome of [undefined, 'site']) {
        const { payload } = await waitForEvent(
          hub,
          'cert_renewed',
          host,
          (entry) => entry.payload['carga_nome'] === nome,
        )
        assert.equal(payload['trigger'], 'auto_threshold')
      }
    })

    test(`[VER-6] ${name} recovers from an absence`, { skip }, async () => {
      await using ca = await startDevCaProcess({ certDuration: '20s' })
      await using hub = await startHubOf(ca, programs.hub)
      await using host = await enrolHost(hub, 'absent', {}, programs.agent)
      await waitUntilExpired(host)
      host.run()
      await waitForEvent(hub, 'cert_renewed', host, ({ payload }) => {
        return payload['trigger'] === 'recovery'
      })
      await deliver(hub, host, 'site')
    })
  }
})

async function waitUntilExpired({ dataDir }: ManagedHost): Promise<void> {
  const { notAfter } = parseCertificatePem(
    await readFile(join(dataDir, 'identity/agent.crt'), 'utf8'),
  )
  await waitUntil(
    'the identity to expire',
    () => (Date.now() > notAfter.getTime() + 1000 ? true : undefined),
    60_000,
  )
}
