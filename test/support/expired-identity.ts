// An agent whose one identity expired the day before `now`, as a hub's store has it, and what its host has of it.

import { createCsrPem } from '../../src/pki/csr.ts'
import { parseCertificatePem } from '../../src/pki/certificates.ts'
import { generateEcP256Key, type PrivateKey } from '../../src/pki/keys.ts'
import type { Agent } from '../../src/hub/domain/agent.ts'
import { insertAgent } from '../store/store-samples.ts'
import type { Store } from '../../src/hub/store/store.ts'
import { createFakeCa } from '../fakes/hub-certificates.ts'

const DAY_MS = 86_400_000

export interface ExpiredIdentity {
  readonly agent: Agent
  readonly key: PrivateKey
  readonly csrPem: string
  /** With its intermediate. */
  readonly certPem: string
}

export async function insertExpiredIdentity(
  store: Store,
  hostname: string,
  now: Date,
): Promise<ExpiredIdentity> {
  const ca = await createFakeCa()
  const key = await generateEcP256Key()
  const csrPem = await createCsrPem(hostname, key)
  const notBefore = new Date(now.getTime() - 3 * DAY_MS)
  const notAfter = new Date(now.getTime() - DAY_MS)
  const certPem = await ca.sign(csrPem, { commonName: hostname, notBefore, notAfter })
  const { sha256, serial } = parseCertificatePem(certPem)
  const agent = await insertAgent(store, hostname)
  const recorded = { sha256, serial, agentId: agent.id, notBefore, notAfter }
  await store.write((writer) =>
    writer.insertCertificate({
      ...recorded,
      purpose: 'identity',
      deliveryId: null,
      rootSha256: null,
    }),
  )
  return { agent, key, csrPem, certPem }
}
