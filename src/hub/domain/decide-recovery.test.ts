import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { AgentId } from '../../protocol/identifiers.ts'
import type { Agent } from './agent.ts'
import {
  decideProof,
  decideRecoverable,
  type ProofFacts,
  type RecoverableFacts,
} from './decide-recovery.ts'
import type { IssuedCertificate } from './issued-certificate.ts'

const NOW = new Date('2026-11-21T12:00:00Z')
const DAY_MS = 86_400_000
const minutesFromNow = (minutes: number): Date => new Date(NOW.getTime() + minutes * 60_000)

// Only what the decision looks at.
const AGENT = {
  id: 'a' as AgentId,
  revokedAt: null,
  removedAt: null,
  activeIdentity: { seq: 5, since: minutesFromNow(-600) },
} as unknown as Agent
const CERTIFICATE = {
  seq: 5,
  agentId: AGENT.id,
  purpose: 'identity',
  revokedAt: null,
  notAfter: new Date(NOW.getTime() - 2 * DAY_MS),
} as IssuedCertificate
const CLAIMS = { csr_sha256: 'csr', aud: 'hub.example', iat: NOW.getTime() / 1000, jti: 'once' }

type Facts = RecoverableFacts & ProofFacts

/** Both decisions: one of the two has to say no. */
function isRecovered(facts: Facts): boolean {
  return decideRecoverable(facts).ok && decideProof(facts).ok
}

const FACTS: Facts = {
  certificate: CERTIFICATE,
  agent: AGENT,
  claims: CLAIMS,
  csrSha256: 'csr',
  hubNames: ['other.example', 'hub.example'],
  graceMs: 7 * DAY_MS,
  now: NOW,
}

test('[REC-2] an expired identity of a live agent is recovered, within the grace', () => {
  assert.equal(isRecovered(FACTS), true)
  const certificate = { ...CERTIFICATE, notAfter: new Date(NOW.getTime() - 7 * DAY_MS) }
  assert.equal(isRecovered({ ...FACTS, certificate }), true)
})

test('[REC-2] one that has not expired is as good: the agent’s clock may be wrong', () => {
  const certificate = { ...CERTIFICATE, notAfter: minutesFromNow(60) }
  assert.equal(isRecovered({ ...FACTS, certificate }), true)
})

test('[REC-1] a wildcard among the names of the hub is as good as the name', () => {
  const claims = { ...CLAIMS, aud: 'hub1.example.org' }
  assert.equal(isRecovered({ ...FACTS, claims, hubNames: ['*.example.org'] }), true)
})

const revoked = minutesFromNow(-1)
const refusals: readonly (readonly [string, Partial<Facts>])[] = [
  ['when recovery is turned off', { graceMs: 0 }],
  ['a certificate that the hub does not know', { certificate: undefined }],
  ['a certificate without an agent', { agent: undefined }],
  ['a delivered certificate', { certificate: { ...CERTIFICATE, purpose: 'delivery' } }],
  ['a revoked certificate', { certificate: { ...CERTIFICATE, revokedAt: revoked } }],
  ['a revoked agent', { agent: { ...AGENT, revokedAt: revoked } }],
  ['a removed agent', { agent: { ...AGENT, removedAt: revoked } }],
  ['a superseded identity', { certificate: { ...CERTIFICATE, seq: 4 } }],
  [
    'one that expired longer ago than the grace',
    { certificate: { ...CERTIFICATE, notAfter: new Date(NOW.getTime() - 7 * DAY_MS - 1) } },
  ],
  ['a proof that is not signed by its key', { claims: undefined }],
  ['a proof for another hub', { claims: { ...CLAIMS, aud: 'elsewhere.example' } }],
  ['a proof older than five minutes', { claims: { ...CLAIMS, iat: CLAIMS.iat - 301 } }],
  ['a proof from more than five minutes ahead', { claims: { ...CLAIMS, iat: CLAIMS.iat + 301 } }],
  ['a proof for another CSR', { csrSha256: 'another' }],
]
for (const [what, change] of refusals) {
  test(`[REC-2] refuses ${what}`, () => {
    assert.equal(isRecovered({ ...FACTS, ...change }), false)
  })
}
