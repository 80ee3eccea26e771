import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { AgentId } from '../../protocol/identifiers.ts'
import type { Agent } from './agent.ts'
import { decideRecovery, type RecoveryFacts } from './decide-recovery.ts'
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

const FACTS: RecoveryFacts = {
  certificate: CERTIFICATE,
  agent: AGENT,
  claims: CLAIMS,
  csrSha256: 'csr',
  hubNames: ['other.example', 'hub.example'],
  graceMs: 7 * DAY_MS,
  now: NOW,
}

test('[REC-2] an expired identity of a live agent is recovered, within the grace', () => {
  assert.equal(decideRecovery(FACTS).ok, true)
  const certificate = { ...CERTIFICATE, notAfter: new Date(NOW.getTime() - 7 * DAY_MS) }
  assert.equal(decideRecovery({ ...FACTS, certificate }).ok, true)
})

test('[REC-2] one that has not expired is as good: the agent’s clock may be wrong', () => {
  const certificate = { ...CERTIFICATE, notAfter: minutesFromNow(60) }
  assert.equal(decideRecovery({ ...FACTS, certificate }).ok, true)
})

test('[REC-1] a wildcard among the names of the hub is as good as the name', () => {
  const claims = { ...CLAIMS, aud: 'hub1.example.org' }
  assert.equal(decideRecovery({ ...FACTS, claims, hubNames: ['*.example.org'] }).ok, true)
})

const revoked = minutesFromNow(-1)
const refusals: readonly (readonly [string, Partial<RecoveryFacts>])[] = [
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
    assert.equal(decideRecovery({ ...FACTS, ...change }).ok, false)
  })
}
