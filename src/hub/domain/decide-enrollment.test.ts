import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import type { CertificateRequest } from '../../pki/csr.ts'
import type { Hostname, TokenHash } from '../../protocol/identifiers.ts'
import type { Agent } from './agent.ts'
import { decideEnrollment, type EnrollmentFacts, isCsrFor } from './decide-enrollment.ts'
import type { EnrollmentToken } from './enrollment-token.ts'

const NOW = new Date('2030-01-01T00:00:00.000Z')
const TOKEN: EnrollmentToken = {
  hash: 'a'.repeat(64) as TokenHash,
  expectedHostname: 'web-1' as Hostname,
  expectedRole: 'web',
  labels: new Map(),
  createdAt: new Date(NOW.getTime() - 1000),
  expiresAt: new Date(NOW.getTime() + 1),
  consumedAt: null,
  isReenrollment: false,
  isOperators: false,
  mismatches: 0,
  joinRuleId: null,
  endedAt: null,
  replay: null,
}
const CSR: CertificateRequest = {
  der: Buffer.alloc(1),
  sha256: '',
  commonName: 'web-1',
  sans: [],
  publicKeySpki: Buffer.alloc(1),
}
interface Facts extends EnrollmentFacts {
  readonly csr: CertificateRequest | undefined
}
const GOOD: Facts = {
  token: TOKEN,
  hostname: 'web-1',
  role: 'web',
  enrolledAgent: undefined,
  mayOperatorsReenroll: false,
  csr: CSR,
  hubNames: ['hub.example'],
  now: NOW,
}
const AGENT = {} as Agent

function refusalOf(facts: Partial<Facts>): string {
  const all = { ...GOOD, ...facts }
  const verdict = decideEnrollment(all)
  if (!verdict.ok) return verdict.refusal
  return isCsrFor(verdict.token, all.csr) ? 'ok' : 'csr_invalid'
}

describe('each check wins over all that come after it', () => {
  // From the last to the first; each row keeps what was wrong in the rows before.
  const faults: readonly (readonly [string, Partial<Facts>])[] = [
    ['csr_invalid', { csr: undefined }],
    ['agent_already_enrolled', { enrolledAgent: AGENT }],
    ['role_mismatch', { role: 'db' }],
    ['hostname_mismatch', { hostname: 'web-2' }],
    ['token_expired', { token: { ...TOKEN, expiresAt: NOW } }],
    ['token_consumed', { token: { ...TOKEN, expiresAt: NOW, consumedAt: NOW } }],
    ['token_not_found', { token: undefined }],
  ]
  for (const [index, [refusal]] of faults.entries()) {
    test(`[ENR-3] [ENR-4] [ENR-5] [ENR-6] [ENR-7] [ENR-8] [ENR-9] ${refusal}`, () => {
      const all = Object.assign({}, ...faults.slice(0, index + 1).map(([, facts]) => facts))
      assert.equal(refusalOf(all), refusal)
    })
  }
})

describe('the edges', () => {
  test('[ENR-5] a token whose expiry equals now is expired, one millisecond later is not', () => {
    assert.equal(refusalOf({ token: { ...TOKEN, expiresAt: NOW } }), 'token_expired')
    assert.equal(refusalOf({}), 'ok')
  })

  test('[TOK-8] a token that was ended is expired, whatever the clock says', () => {
    assert.equal(refusalOf({ token: { ...TOKEN, endedAt: TOKEN.expiresAt } }), 'token_expired')
  })

  test('[ENR-18] a token for re-enrolment is good for an enrolled host', () => {
    const token = { ...TOKEN, isReenrollment: true }
    assert.equal(refusalOf({ token, enrolledAgent: AGENT }), 'ok')
  })

  test('[ENR-8] [POL-17] one that an operator made is so where the politicas leave it to operators', () => {
    const token = { ...TOKEN, isReenrollment: true, isOperators: true }
    assert.equal(refusalOf({ token }), 'ok')
    assert.equal(refusalOf({ token, enrolledAgent: AGENT }), 'agent_already_enrolled')
    const facts = { token, enrolledAgent: AGENT, mayOperatorsReenroll: true }
    assert.equal(refusalOf(facts), 'ok')
    const plain = { ...token, isReenrollment: false }
    assert.equal(refusalOf({ ...facts, token: plain }), 'agent_already_enrolled')
  })

  test('[ENR-9] names of the CSR are none or the hostname', () => {
    const withSans = (sans: readonly string[] | undefined): string =>
      refusalOf({ csr: { ...CSR, sans } })
    assert.equal(withSans([]), 'ok')
    assert.equal(withSans(['web-1']), 'ok')
    for (const sans of [['web-2'], ['web-1', 'web-2'], undefined]) {
      assert.equal(withSans(sans), 'csr_invalid')
    }
  })

  test('[ENR-13] the CN is not looked at', () => {
    assert.equal(refusalOf({ csr: { ...CSR, commonName: 'other' } }), 'ok')
    assert.equal(refusalOf({ csr: { ...CSR, commonName: undefined } }), 'ok')
  })
})

test('[TOK-5] a token for a name that the hub has by now is a mismatch', () => {
  assert.equal(refusalOf({ hubNames: ['hub.example', 'web-1'] }), 'hostname_mismatch')
  const token = { ...TOKEN, expectedHostname: 'a.apps.example' as Hostname }
  const facts = { token, hostname: 'a.apps.example', hubNames: ['*.apps.example'] }
  assert.equal(refusalOf(facts), 'hostname_mismatch')
})
