import assert from 'node:assert/strict'
import { createHash, createPublicKey, generateKeyPairSync } from 'node:crypto'
import { test } from 'node:test'
import { compactVerify } from 'jose'
import { generateEcP256Key, parsePrivateKeyPem } from '../../pki/keys.ts'
import { createRecoveryProof } from './recovery-proof.ts'

const csrDer = Buffer.from('a CSR')
const options = { csrDer, audience: 'hub.example', now: new Date('2026-01-01T12:00:00.900Z') }

test('[REC-1] a proof is ES256 by the key of the identity and says CSR, hub and time', async () => {
  const key = await generateEcP256Key()
  const proof = await createRecoveryProof({ ...options, key })
  const { payload, protectedHeader } = await compactVerify(proof, createPublicKey(key.keyObject))
  assert.deepEqual(protectedHeader, { alg: 'ES256' })
  const { jti, ...claims } = JSON.parse(new TextDecoder().decode(payload)) as { jti: string }
  assert.deepEqual(claims, {
    csr_sha256: createHash('sha256').update(csrDer).digest('base64url'),
    aud: 'hub.example',
    iat: Date.parse('2026-01-01T12:00:00Z') / 1000,
  })
  assert.match(jti, /^[0-9a-f-]{36}$/)
})

test('[REC-4] each proof has a jti of its own', async () => {
  const key = await generateEcP256Key()
  const make = () => createRecoveryProof({ ...options, key })
  const ids = (await Promise.all([make(), make()])).map(
    (proof) =>
      (
        JSON.parse(Buffer.from(proof.split('.')[1] ?? '', 'base64url').toString()) as {
          jti: string
        }
      ).jti,
  )
  assert.equal(new Set(ids).size, 2)
})

for (const [name, privateKey] of [
  ['P-384', generateKeyPairSync('ec', { namedCurve: 'P-384' }).privateKey],
  ['Ed25519', generateKeyPairSync('ed25519').privateKey],
] as const) {
  test(`[REC-6] a key of ${name} cannot recover, and the message says so`, async () => {
    const pem = privateKey.export({ type: 'pkcs8', format: 'pem' }).toString()
    await assert.rejects(createRecoveryProof({ ...options, key: parsePrivateKeyPem(pem) }), {
      code: 'recovery_impossible',
      message: 'the agent cannot recover the expired identity: its key is not P-256',
    })
  })
}
