import assert from 'node:assert/strict'
import { mkdtemp, rm } from 'node:fs/promises'
import { createHash, randomBytes } from 'node:crypto'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, before, test } from 'node:test'
import * as fc from 'fast-check'
import { derOf, mutatedPem } from '../../../../test/fuzz/hostile-values.ts'
import { insertExpiredIdentity } from '../../../../test/support/expired-identity.ts'
import { anyText, propertyRuns } from '../../../../test/support/property.ts'
import { createRecoveryProof } from '../../../agent/identity/recovery-proof.ts'
import { parseCertificatePem } from '../../../pki/certificates.ts'
import type { PrivateKey } from '../../../pki/keys.ts'
import { createLogging } from '../../../platform/logger.ts'
import { Secret } from '../../../platform/secret.ts'
import { createDatabase } from '../../store/sqlite/encrypted-database.ts'
import { openSqliteStore } from '../../store/sqlite/sqlite-store.ts'
import type { Store } from '../../store/store.ts'
import { createRecoverIdentity, type RecoverIdentity } from './recover-identity.ts'

const NOW = new Date('2030-01-10T00:00:00.000Z')
const HUB = 'hub.example'

let directory: string
let store: Store
let recover: RecoverIdentity
let key: PrivateKey
let certPem: string
let csrPem: string

before(async () => {
  directory = await mkdtemp(join(tmpdir(), 'recover-'))
  const place = { path: join(directory, 'db.enc'), dataKey: new Secret(randomBytes(32)) }
  await createDatabase(place.path, place.dataKey)
  store = await openSqliteStore(place)
  const logging = createLogging({ filter: { levelOf: () => 'off' }, format: 'json' })
  recover = createRecoverIdentity({
    store,
    clock: { now: () => NOW, sleep: () => Promise.resolve() },
    log: logging.forModule('test'),
    issueCertificate: async () => ({ ok: true, certificatePem: 'new', rootPem: 'root' }),
    hubNames: [HUB],
    graceMs: 7 * 86_400_000,
    issueRates: { take: () => 0, waitMs: () => 0, giveBack: () => undefined },
  })
  const host = await insertExpiredIdentity(store, 'web-1', NOW)
  ;({ key, csrPem, certPem } = host)
})
after(async () => {
  await store?.close()
  await rm(directory, { recursive: true })
})

function goodProof(): Promise<string> {
  return createRecoveryProof({ key, csrDer: derOf(csrPem), audience: HUB, now: NOW })
}

const base64 = (text: string): string => Buffer.from(text).toString('base64url')
const header = fc.oneof(
  fc.constantFrom('{"alg":"none"}', '{"alg":"HS256"}', '{"alg":"ES256"}', '{"alg":["ES256"]}'),
  fc.constantFrom(
    '{"alg":"ES256","crit":["x"],"x":1}',
    '{"alg":"ES256","b64":false,"crit":["b64"]}',
  ),
  fc.json(),
)
const claims = fc.oneof(
  fc.json(),
  fc
    .record({ aud: fc.constant(HUB), iat: fc.double(), jti: anyText() })
    .map((body) => JSON.stringify(body)),
)

test('[REC-1] a proof without the key’s signature is refused, and nothing is thrown', async () => {
  const signature = fc
    .uint8Array({ maxLength: 70 })
    .map((bytes) => Buffer.from(bytes).toString('base64url'))
  const made = fc
    .tuple(header.map(base64), claims.map(base64), signature)
    .map((parts) => parts.join('.'))
  const dots = fc.array(anyText(5), { maxLength: 6 }).map((parts) => parts.join('.'))
  await fc.assert(
    fc.asyncProperty(fc.oneof(made, dots, anyText()), async (proof) => {
      const outcome = await recover({ cert_pem: certPem, csr_pem: csrPem, proof })
      assert.equal(outcome.ok ? 'recovered' : outcome.refusal, 'recovery_refused')
    }),
    propertyRuns(300),
  )
})

test('[REC-1] [REC-2] a good proof with any character changed is refused, and as it was it is taken once', async () => {
  const proof = await goodProof()
  const letter = fc.constantFrom('A', 'b', '.', '=', '_', '~', '')
  await fc.assert(
    fc.asyncProperty(fc.nat({ max: proof.length - 1 }), letter, async (at, put) => {
      const changed = proof.slice(0, at) + put + proof.slice(at + 1)
      if (signedBytes(changed) === signedBytes(proof)) return
      const outcome = await recover({ cert_pem: certPem, csr_pem: csrPem, proof: changed })
      assert.equal(outcome.ok, false, changed)
    }),
    propertyRuns(200),
  )
  const outcome = () => recover({ cert_pem: certPem, csr_pem: csrPem, proof })
  assert.equal((await outcome()).ok, true)
  assert.equal((await outcome()).ok, false)
})

test('[REC-1] a certificate or a CSR that was changed is refused with whatever proof, and nothing is thrown', async () => {
  const leaf = parseCertificatePem(certPem).pem
  const change = fc.oneof(
    mutatedPem(leaf).map((pem) => ({ cert_pem: pem, csr_pem: csrPem })),
    mutatedPem(csrPem).map((pem) => ({ cert_pem: certPem, csr_pem: pem })),
  )
  await fc.assert(
    fc.asyncProperty(change, async (changed) => {
      const isSame =
        sha256(leafOf(changed.cert_pem)) === sha256(leafOf(leaf)) &&
        changed.csr_pem.replaceAll(/\s/g, '') === csrPem.replaceAll(/\s/g, '')
      if (isSame) return
      const outcome = await recover({ ...changed, proof: await goodProof() })
      assert.equal(outcome.ok ? 'recovered' : outcome.refusal, 'recovery_refused')
    }),
    propertyRuns(300),
  )
})

/** What base64url decoders read; the last character of a part may have bits that they do not. */
function signedBytes(proof: string): string {
  const parts = proof.split('.')
  return parts.map((part) => Buffer.from(part, 'base64url').toString('hex')).join('.')
}

/** Its bytes, however they are broken into lines: with the same bytes it is the same certificate. */
function leafOf(pem: string): Buffer {
  const block = /-----BEGIN CERTIFICATE-----[^-]+-----END CERTIFICATE-----/.exec(pem)?.[0]
  return block === undefined ? Buffer.from(pem) : derOf(block)
}

function sha256(bytes: Buffer): string {
  return createHash('sha256').update(bytes).digest('hex')
}
