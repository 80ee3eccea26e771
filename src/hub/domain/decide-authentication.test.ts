import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import type { AgentId } from '../../protocol/identifiers.ts'
import type { Agent } from './agent.ts'
import { type AuthenticationFacts, decideAuthentication } from './decide-authentication.ts'
import type { IssuedCertificate } from './issued-certificate.ts'
import { newAgent } from '../../../test/store/store-samples.ts'

const NOW = new Date('2030-01-01T00:00:00.000Z')
const AGENT_ID = '11111111-1111-4111-8111-111111111111' as AgentId
const OTHER_ID = '22222222-2222-4222-8222-222222222222' as AgentId
const inSeconds = (seconds: number): Date => new Date(NOW.getTime() + seconds * 1000)

const AGENT: Agent = { ...newAgent('web-1'), id: AGENT_ID, createdAt: inSeconds(-1000) }
const CERTIFICATE: IssuedCertificate = {
  seq: 5,
  sha256: 'aa',
  serial: '01',
  agentId: AGENT_ID,
  purpose: 'identity',
  deliveryId: null,
  rootSha256: null,
  notBefore: inSeconds(-1000),
  notAfter: inSeconds(1000),
  revokedAt: null,
  firstUsedAt: null,
}
const GOOD: AuthenticationFacts = {
  agent: AGENT,
  certificate: CERTIFICATE,
  notAfter: CERTIFICATE.notAfter,
  now: NOW,
  identityMatch: 'identity',
}

function refusalOf(facts: Partial<AuthenticationFacts>): string {
  const verdict = decideAuthentication({ ...GOOD, ...facts })
  return verdict.ok ? 'ok' : verdict.refusal
}

const REVOKED_AGENT: Agent = { ...AGENT, revokedAt: NOW }
const REVOKED: IssuedCertificate = { ...CERTIFICATE, revokedAt: NOW }
const supersededBy = (seq: number, seconds: number): Agent => ({
  ...AGENT,
  activeIdentity: { seq, since: inSeconds(-seconds) },
})
const EXPIRED = { notAfter: NOW }

describe('the order of checks', () => {
  const rows: readonly (readonly [string, Partial<AuthenticationFacts>, string])[] = [
    ['[AUT-2] no agent', { agent: undefined, certificate: REVOKED }, 'agent_not_registered'],
    ['[AUT-3] a revoked agent', { agent: REVOKED_AGENT }, 'agent_revoked'],
    [
      '[AUT-3] a revoked agent with an unknown certificate',
      { agent: REVOKED_AGENT, certificate: undefined },
      'agent_revoked',
    ],
    ['[AUT-4] an unknown certificate', { certificate: undefined }, 'agent_not_registered'],
    [
      '[AUT-4] a delivered certificate, revoked or not',
      { certificate: { ...REVOKED, purpose: 'delivery' } },
      'agent_not_registered',
    ],
    [
      '[AUT-4] another agent’s certificate',
      { certificate: { ...CERTIFICATE, agentId: OTHER_ID } },
      'agent_not_registered',
    ],
    ['[AUT-5] a revoked certificate', { certificate: REVOKED }, 'agent_revoked'],
    [
      '[AUT-5] a revoked certificate that is expired',
      { certificate: REVOKED, ...EXPIRED },
      'agent_revoked',
    ],
    [
      '[AUT-6] [ERR-14] a certificate that ends now',
      { ...EXPIRED, agent: supersededBy(6, 3600) },
      'certificate_expired',
    ],
    [
      '[AUT-7] [ERR-15] a superseded certificate',
      { agent: supersededBy(6, 3600) },
      'certificate_superseded',
    ],
    ['[AUT-7] a good one', {}, 'ok'],
  ]
  for (const [title, facts, expected] of rows) {
    test(`${title}: ${expected}`, () => assert.equal(refusalOf(facts), expected))
  }

  test('[AUT-6] a certificate is good until the moment before it ends', () => {
    assert.equal(refusalOf({ notAfter: new Date(NOW.getTime() + 1) }), 'ok')
  })
})

describe('supersession', () => {
  test('[AUT-8] ends an older identity one minute after the first use of a newer one, not before', () => {
    assert.equal(refusalOf({ agent: supersededBy(6, 0) }), 'ok')
    assert.equal(refusalOf({ agent: supersededBy(6, 60) }), 'ok')
    assert.equal(refusalOf({ agent: supersededBy(6, 60.001) }), 'certificate_superseded')
  })

  test('[AUT-8] goes by commit order: the active one and newer ones are good for ever', () => {
    assert.equal(refusalOf({ agent: supersededBy(5, 3600) }), 'ok')
    assert.equal(refusalOf({ agent: supersededBy(4, 3600) }), 'ok')
  })

  test('[AUT-8] begins with the first use of an identity newer than the active one', () => {
    const activatesFor = (agent: Agent): number | undefined => {
      const verdict = decideAuthentication({ ...GOOD, agent })
      return verdict.ok ? verdict.activates?.seq : undefined
    }
    assert.equal(activatesFor(AGENT), 5)
    assert.equal(activatesFor(supersededBy(4, 3600)), 5)
    assert.equal(activatesFor(supersededBy(5, 3600)), undefined)
    assert.equal(activatesFor(supersededBy(6, 10)), undefined)
  })
})

describe('identity match cn', () => {
  const cn = { identityMatch: 'cn' } as const
  const rows: readonly (readonly [string, Partial<AuthenticationFacts>, string])[] = [
    ['an unknown certificate', { certificate: undefined }, 'ok'],
    ['a delivered certificate', { certificate: { ...CERTIFICATE, purpose: 'delivery' } }, 'ok'],
    ['a revoked certificate', { certificate: REVOKED }, 'agent_revoked'],
    [
      'an expired one that is unknown',
      { certificate: undefined, ...EXPIRED },
      'certificate_expired',
    ],
    ['a superseded identity', { agent: supersededBy(6, 3600) }, 'certificate_superseded'],
    ['no agent', { agent: undefined }, 'agent_not_registered'],
    ['a revoked agent', { agent: REVOKED_AGENT, certificate: undefined }, 'agent_revoked'],
  ]
  for (const [title, facts, expected] of rows) {
    test(`[AUT-14] ${title}: ${expected}`, () => {
      assert.equal(refusalOf({ ...cn, ...facts }), expected)
    })
  }
})
