import assert from 'node:assert/strict'
import { before, describe, test } from 'node:test'
import { createRootPem } from '../../dev-ca/issuer.ts'
import { type Certificate, parseCertificatePem } from '../../pki/certificates.ts'
import { generateEcP256Key } from '../../pki/keys.ts'
import { newAgent, NOW } from '../../../test/store/store-samples.ts'
import { findEndangered, findRootsFault, hasAdopted, isValid } from './decide-root-set.ts'
import type { AgentTrust, StandingCertificate } from './root-set.ts'

const DAY_MS = 86_400_000
const AGENT = newAgent('web-1')

describe('a set of roots', () => {
  let old: Certificate
  let fresh: Certificate
  let expired: Certificate
  before(async () => {
    const rootUntil = async (notAfterMs: number): Promise<Certificate> => {
      const validity = {
        notBefore: new Date(notAfterMs - 10 * DAY_MS),
        notAfter: new Date(notAfterMs),
      }
      const key = await generateEcP256Key()
      return parseCertificatePem(await createRootPem({ commonName: 'Root', ...validity }, key))
    }
    old = await rootUntil(NOW.getTime() + DAY_MS)
    fresh = await rootUntil(NOW.getTime() + 2 * DAY_MS)
    expired = await rootUntil(NOW.getTime() - 1000)
  })

  const trust = (fingerprints: string[], pinned: string[] | null = null): AgentTrust => ({
    agentId: AGENT.id,
    number: 1,
    fingerprints,
    pinned,
    error: null,
    reportedAt: NOW,
  })
  const certificate = (root: string | null, name: string | null = null): StandingCertificate => ({
    agentId: AGENT.id,
    hostname: 'web-1',
    deliveryName: name,
    serial: '0a',
    notAfter: NOW,
    rootSha256: root,
  })

  test('[TRU-2] has a valid root, and at most 16', () => {
    assert.equal(findRootsFault([old, expired], NOW), undefined)
    assert.match(String(findRootsFault([expired], NOW)), /none of the roots is valid/)
    assert.match(String(findRootsFault([], NOW)), /none of the roots is valid/)
    assert.match(String(findRootsFault(Array(17).fill(old) as Certificate[], NOW)), /more than 16/)
    assert.equal(isValid(expired, NOW), false)
  })

  test('[TRU-13] is adopted by an agent that trusts exactly that, also by its file', () => {
    const both = [old, fresh]
    const [a, b] = [old.sha256, fresh.sha256]
    for (const [said, adopted] of [
      [undefined, false],
      [trust([a]), false],
      [trust([b, a]), true],
      [trust([a, b, expired.sha256]), false],
      [trust([a, b], [a]), false],
      [trust([a, b], [b, 'another CA', a]), true],
    ] as const) {
      assert.equal(hasAdopted(said, both), adopted)
    }
  })

  test('[TRU-10] endangers agents that trust none of it, and certificates of another root', () => {
    const [a, b] = [old.sha256, fresh.sha256]
    const endangered = (said: AgentTrust[], certificates: StandingCertificate[]) =>
      findEndangered({ roots: [fresh], agents: [AGENT], trusts: said, certificates })
    assert.deepEqual(endangered([trust([a, b])], [certificate(b), certificate(b, 'site')]), [])
    const reasons = (said: AgentTrust[], certificates: StandingCertificate[]) =>
      endangered(said, certificates)[0]?.reasons
    assert.deepEqual(reasons([], []), ['has not said what it trusts'])
    assert.deepEqual(reasons([trust([a])], []), ['trusts none of the roots that stay'])
    assert.match(String(reasons([trust([a, b], [a])], [])), /SVC_SERVER_CA_PATH/)
    const certificates = [certificate(a), certificate(b), certificate(null, 'site')]
    assert.deepEqual(reasons([trust([b])], certificates), ['identity 0a', 'site 0a'])
  })

  test('[TRU-10] endangers no agent that is revoked', () => {
    const agents = [{ ...AGENT, revokedAt: NOW }]
    assert.deepEqual(findEndangered({ roots: [fresh], agents, trusts: [], certificates: [] }), [])
  })
})
