// What a stranger can do to an agent by its certificate, which anybody may know: docs/protocol.md REC-9.

import assert from 'node:assert/strict'
import { test } from 'node:test'
import { derOf } from '../../../../test/fuzz/hostile-values.ts'
import {
  type ExpiredIdentity,
  insertExpiredIdentity,
} from '../../../../test/support/expired-identity.ts'
import { openTemporaryStore } from '../../../../test/support/temporary-store.ts'
import { createRecoveryProof } from '../../../agent/identity/recovery-proof.ts'
import { createLogging } from '../../../platform/logger.ts'
import { createTokenBuckets } from '../../../platform/token-bucket.ts'
import type { RecoverRequestBody } from '../../../protocol/schemas.ts'
import { NOW } from '../../../../test/store/store-samples.ts'
import type { Store } from '../../store/store.ts'
import { createRecoverIdentity } from './recover-identity.ts'

const HUB = 'hub.example'
const BURST = 3

interface Asked {
  readonly host: ExpiredIdentity
  readonly ask: (change?: Partial<RecoverRequestBody>) => Promise<string>
  readonly goodProof: () => Promise<string>
}

async function prepare(store: Store): Promise<Asked> {
  const host = await insertExpiredIdentity(store, 'web-1', NOW)
  const clock = { now: () => NOW, sleep: () => Promise.resolve() }
  const recover = createRecoverIdentity({
    store,
    clock,
    log: createLogging({ filter: { levelOf: () => 'off' }, format: 'json' }).forModule('test'),
    issueCertificate: async () => ({ ok: true, certificatePem: 'new', rootPem: 'root' }),
    hubNames: [HUB],
    graceMs: 7 * 86_400_000,
    issueRates: createTokenBuckets({ perSecond: 1, burst: BURST, now: clock.now }),
  })
  const { key, csrPem, certPem } = host
  const goodProof = (): Promise<string> =>
    createRecoveryProof({ key, csrDer: derOf(csrPem), audience: HUB, now: NOW })
  const ask = async (change: Partial<RecoverRequestBody> = {}): Promise<string> => {
    const request = { cert_pem: certPem, csr_pem: csrPem, proof: await goodProof(), ...change }
    const outcome = await recover(request)
    return outcome.ok ? 'ok' : outcome.refusal
  }
  return { host, ask, goodProof }
}

test('[REC-9] whoever has no key uses up none of the agent’s rate, with a proof that was used neither', async () => {
  await using store = await openTemporaryStore()
  const { ask, goodProof } = await prepare(store)
  const proof = await goodProof()
  assert.equal(await ask({ proof }), 'ok')
  for (let count = 0; count < 5 * BURST; count += 1) {
    assert.equal(await ask({ proof: 'a.b.c' }), 'recovery_refused')
    assert.equal(await ask({ proof }), 'recovery_refused')
    assert.equal(await ask({ csr_pem: 'another' }), 'recovery_refused')
  }
  for (let count = 1; count < BURST; count += 1) assert.equal(await ask(), 'ok')
  assert.equal(await ask(), 'rate_limited')
})

test('[REC-9] over its rate nothing of a request is looked at but whose it is', async () => {
  await using store = await openTemporaryStore()
  const { ask, host } = await prepare(store)
  for (let count = 0; count < BURST; count += 1) assert.equal(await ask(), 'ok')
  assert.equal(await ask({ proof: 'a.b.c', csr_pem: 'none' }), 'rate_limited')
  const der = derOf(host.certPem.slice(0, host.certPem.indexOf('-----END')))
  const strange = Buffer.concat([der, Buffer.alloc(1)]).toString('base64')
  const certPem = `-----BEGIN CERTIFICATE-----\n${strange}\n-----END CERTIFICATE-----\n`
  assert.equal(await ask({ cert_pem: certPem }), 'recovery_refused')
  assert.equal(await ask({ cert_pem: 'none' }), 'recovery_refused')
})
