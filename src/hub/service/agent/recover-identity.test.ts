import assert from 'node:assert/strict'
import { randomBytes } from 'node:crypto'
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { test } from 'node:test'
import { createFakeCa, type FakeCa } from '../../../../test/fakes/hub-certificates.ts'
import { derOf } from '../../../../test/fuzz/hostile-values.ts'
import { createRecoveryProof } from '../../../agent/identity/recovery-proof.ts'
import { parseCertificatesPem } from '../../../pki/certificates.ts'
import { createCsrPem } from '../../../pki/csr.ts'
import { generateEcP256Key } from '../../../pki/keys.ts'
import { createLogging } from '../../../platform/logger.ts'
import { Secret } from '../../../platform/secret.ts'
import type { CertificateAuthority } from '../../ca/certificate-authority.ts'
import { insertAgent } from '../../../../test/store/store-samples.ts'
import { openSqliteStore } from '../../store/sqlite/sqlite-store.ts'
import type { Store } from '../../store/store.ts'
import { createIssueCertificate } from './issue-certificate.ts'
import { createRecoverIdentity } from './recover-identity.ts'

const NOW = new Date('2030-01-10T00:00:00.000Z')
const DAY_MS = 86_400_000
const HUB_NAMES = ['hub.example']

const validityFrom = (days: number) => ({
  notBefore: new Date(NOW.getTime() + days * DAY_MS),
  notAfter: new Date(NOW.getTime() + (days + 1) * DAY_MS),
})

function authorityOf(ca: FakeCa): CertificateAuthority {
  return {
    rootPem: ca.rootPem,
    sign: async ({ csr, commonName }) => {
      const base64 = csr.der.toString('base64')
      const csrPem = `-----BEGIN CERTIFICATE REQUEST-----\n${base64}\n-----END CERTIFICATE REQUEST-----\n`
      const chainPem = await ca.sign(csrPem, { commonName, ...validityFrom(0) })
      const [leaf, ...intermediates] = parseCertificatesPem(chainPem)
      assert.ok(leaf)
      return { leaf, intermediates, chainPem }
    },
    revoke: async () => ({ kind: 'revoked' }),
  }
}

test('[REC-7] a recovery and its new certificate are recorded in one commit', async () => {
  const directory = await mkdtemp(join(tmpdir(), 'recover-'))
  const dataKey = new Secret(randomBytes(32))
  const path = join(directory, 'db.enc')
  const store = await openSqliteStore({ path, dataKey, createIfMissing: true })
  /** The types in the audit log, as a crash after each commit would leave them. */
  const logAfterEach: string[][] = []
  const watched: Store = {
    reader: store.reader,
    version: 0,
    versionOf: () => 0,
    close: () => store.close(),
    write: async (work) => {
      const result = await store.write(work)
      const entries = await store.reader.listEntries({ afterSeq: 0, limit: 10 })
      logAfterEach.push(entries.map(({ eventType }) => eventType))
      return result
    },
  }
  try {
    const ca = await createFakeCa()
    const key = await generateEcP256Key()
    const csrPem = await createCsrPem('web-1', key)
    const expired = validityFrom(-2)
    const certPem = await ca.sign(csrPem, { commonName: 'web-1', ...expired })
    const [leaf] = parseCertificatesPem(certPem)
    assert.ok(leaf)
    const { sha256, serial } = leaf
    const agent = await insertAgent(store, 'web-1')
    const facts = {
      sha256,
      serial,
      agentId: agent.id,
      deliveryId: null,
      rootSha256: null,
      ...expired,
    }
    await store.write((writer) => writer.insertCertificate({ ...facts, purpose: 'identity' }))

    const logging = createLogging({ filter: { levelOf: () => 'off' }, format: 'json' })
    const clock = { now: () => NOW, sleep: () => Promise.resolve() }
    const shared = { store: watched, clock, log: logging.forModule('test'), hubNames: HUB_NAMES }
    const recover = createRecoverIdentity({
      ...shared,
      issueCertificate: createIssueCertificate({ ...shared, authority: authorityOf(ca) }),
      graceMs: 7 * DAY_MS,
      issueRates: { take: () => 0, waitMs: () => 0, giveBack: () => undefined },
    })
    const claims = { key, csrDer: derOf(csrPem), audience: 'hub.example', now: NOW }
    const proof = await createRecoveryProof(claims)
    const outcome = await recover({ cert_pem: certPem, csr_pem: csrPem, proof })
    assert.equal(outcome.ok, true)
    assert.deepEqual(logAfterEach, [[], [], ['certificate_issued', 'identity_recovered']])
  } finally {
    await store.close()
    await rm(directory, { recursive: true })
  }
})
