import assert from 'node:assert/strict'
import { after, before, describe, test } from 'node:test'
import {
  createFakeAuthority,
  FAKE_ROOT_SHA256,
  type FakeAuthority,
} from '../../../../test/fakes/fake-authority.ts'
import {
  insertCargo,
  insertDelivery,
  insertToken,
  LATER,
  NOW,
} from '../../../../test/store/store-samples.ts'
import { makeCsrPem } from '../../../../test/support/made-csr.ts'
import { lastSeq, readActs } from '../../../../test/support/recorded-acts.ts'
import { openTemporaryStore } from '../../../../test/support/temporary-store.ts'
import { type CertificateRequest, parseCsrPem } from '../../../pki/csr.ts'
import type { CargoId, Hostname, Recipient } from '../../../protocol/identifiers.ts'
import type { Agent } from '../../domain/agent.ts'
import { endToken, type EnrollmentToken } from '../../domain/enrollment-token.ts'
import type { Policy } from '../../domain/policy.ts'
import type { Store } from '../../store/store.ts'
import {
  commitEnrollment,
  type CommittedEnrollment,
  type EnrollmentToCommit,
} from './commit-enrollment.ts'

const ONE = 'age1pq1one' as Recipient
const ONE_FINGERPRINT = 'SHA256:bh7dZLn8Mt2U2/YmVuZ3OpXMDCPbgdPyARsy3xo7kRA'
const OTHER = 'age1pq1other' as Recipient
const OTHER_FINGERPRINT = 'SHA256:goyPCc0rpKuuIsc0ToTPNWH9qMBHLfhBRviaKtbloPo'

let store: Store & AsyncDisposable
let authority: FakeAuthority
let csr: CertificateRequest

before(async () => {
  store = await openTemporaryStore()
  authority = createFakeAuthority({ now: () => NOW })
  csr = parseCsrPem(makeCsrPem('any')) ?? assert.fail()
})
after(() => store[Symbol.asyncDispose]())

/** What the CA signed for this token, to be written down. */
async function commit(
  token: EnrollmentToken,
  changes: Partial<EnrollmentToCommit> = {},
): Promise<CommittedEnrollment> {
  const hostname = token.expectedHostname
  const signed = await authority.sign({ csr, commonName: hostname, sans: [hostname] })
  const none = { fingerprint: undefined, recipient: undefined, hubNames: ['hub.example'], now: NOW }
  return store.write((writer) =>
    commitEnrollment(writer, { token, csr, signed, ...none, ...changes }),
  )
}

function invite(
  hostname: string,
  changes: Partial<EnrollmentToken> = {},
): Promise<EnrollmentToken> {
  return insertToken(store, { expectedHostname: hostname as Hostname, ...changes })
}

async function enroll(hostname: string, changes: Partial<EnrollmentToCommit> = {}): Promise<Agent> {
  assert.equal((await commit(await invite(hostname), changes)).ok, true)
  return (await store.reader.findAgentByHostname(hostname)) ?? assert.fail()
}

async function setPolicy(role: string, changes: Partial<Policy>): Promise<void> {
  const none = { tokenTtlSecondsMax: null, certTtlSeconds: null, permittedSans: ['*'] }
  await store.write((writer) =>
    writer.setPolicy({
      role,
      name: `of ${role}`,
      ...none,
      areSansNamed: false,
      mayOperatorsReenroll: false,
      automaticCargoes: [],
      ...changes,
    }),
  )
}

describe('[ENR-11] the commit of an enrolment', () => {
  test('makes the agent, spends the token, and records the identity', async () => {
    const token = await invite('web-1')
    const seq = await lastSeq(store.reader)
    const outcome = await commit(token)
    const agent = await store.reader.findAgentByHostname('web-1')
    assert.deepEqual(agent, {
      id: agent?.id,
      hostname: 'web-1',
      role: 'web',
      enrolledWith: token.hash,
      createdAt: NOW,
      lastSeenAt: null,
      revokedAt: null,
      removedAt: null,
      activeIdentity: null,
    })
    const { id } = agent
    assert.deepEqual(outcome, { ok: true, agentId: id })
    assert.deepEqual((await store.reader.findToken(token.hash))?.consumedAt, NOW)
    const serial = `${authority.asked.length}`
    assert.equal(await store.reader.findAgentCertificate(id), `chain ${serial}`)
    const identity = await store.reader.findNewestIdentity(id)
    const { sha256 = '', purpose, deliveryId, rootSha256 } = identity ?? {}
    assert.deepEqual(
      [identity?.serial, purpose, deliveryId, rootSha256],
      [serial, 'identity', null, FAKE_ROOT_SHA256],
    )
    assert.deepEqual(await readActs(store.reader, seq), [
      [
        'agent_enrolled',
        {
          actor: 'token',
          token_id: token.hash.slice(0, 16),
          agente_id: id,
          hostname: 'web-1',
          role: 'web',
          reenroll: false,
        },
      ],
      [
        'certificate_issued',
        {
          actor: 'hub',
          agente_id: id,
          hostname: 'web-1',
          serial,
          sha256,
          csr_sha256: csr.sha256,
          not_after: '2026-11-22T10:00:00.123Z',
          purpose: 'identity',
          request: 'enrollment',
          politica: null,
        },
      ],
    ])
  })

  test('[TOK-9] [ENR-4] [ENR-8] [TOK-5] decides once more, by what has become of token, host and hub since', async () => {
    const ended = await invite('ended')
    await store.write((writer) => writer.updateToken(endToken(ended, NOW)))
    const used = await invite('used')
    assert.equal((await commit(used)).ok, true)
    const late = await invite('used', { isReenrollment: false })
    const mine = await invite('hub.example')
    const seq = await lastSeq(store.reader)
    for (const [token, refusal] of [
      [ended, 'token_expired'],
      [used, 'token_consumed'],
      [late, 'agent_already_enrolled'],
      [mine, 'hostname_mismatch'],
    ] as const) {
      assert.deepEqual(await commit(token), { ok: false, refusal })
    }
    const expired = await commit(await invite('new'), { now: LATER })
    assert.deepEqual(expired, { ok: false, refusal: 'token_expired' })
    assert.deepEqual(await readActs(store.reader, seq), [])
  })

  test('[ENR-17] keeps the answer only for who may ask for it again', async () => {
    const token = await invite('asks-again')
    const outcome = await commit(token, { fingerprint: 'f'.repeat(64) })
    assert.ok(outcome.ok)
    assert.deepEqual((await store.reader.findToken(token.hash))?.replay, {
      fingerprint: 'f'.repeat(64),
      agentId: outcome.agentId,
      certificatePem: `chain ${authority.asked.length}`,
    })
    const other = await invite('asks-once')
    await commit(other)
    assert.equal((await store.reader.findToken(other.hash))?.replay, null)
  })
})

describe('a host that is enrolled again', () => {
  test('[ENR-18] is the same agent, not revoked any more, of the role of the token', async () => {
    const first = await enroll('again')
    const identity = await store.reader.findNewestIdentity(first.id)
    await store.write(async (writer) => {
      await writer.updateAgent({ ...first, revokedAt: NOW, lastSeenAt: NOW })
      await writer.revokeCertificates(first.id, NOW)
      await writer.setActiveIdentity(first.id, identity?.seq ?? 0, NOW)
      await writer.setAgentsPolled(new Map([[first.id, NOW]]))
    })
    await setPolicy('db', {})
    const token = await invite('again', { expectedRole: 'db' })
    const seq = await lastSeq(store.reader)
    await commit(token, { now: new Date(NOW.getTime() + 1000) })
    const agent = await store.reader.findAgentById(first.id)
    assert.deepEqual(agent, {
      ...first,
      role: 'db',
      enrolledWith: token.hash,
      lastSeenAt: NOW,
      activeIdentity: { seq: identity?.seq, since: NOW },
    })
    assert.deepEqual((await store.reader.listLastPolls([first.id])).get(first.id), NOW)
    const old = await store.reader.findCertificate(identity?.sha256 ?? '')
    assert.deepEqual(old?.revokedAt, NOW, 'its earlier identity stays revoked')
    const [[, payload] = []] = await readActs(store.reader, seq)
    const { reenroll, politica } = payload as Record<string, unknown>
    assert.deepEqual([reenroll, politica], [true, 'of db'])
  })

  test('[ENR-19] gets its live cargas anew, and none that was cancelled or removed', async () => {
    const agent = await enroll('rebuilt')
    const [live, cancelled, removed] = await Promise.all(
      ['live', 'cancelled', 'removed'].map((name) => insertCargo(store, name)),
    )
    assert.ok(live && cancelled && removed)
    const old = await insertDelivery(store, agent.id, live)
    const { id } = await insertDelivery(store, agent.id, cancelled)
    await insertDelivery(store, agent.id, removed)
    await store.write(async (writer) => {
      await writer.setDeliveryStatus(old.id, 'instalada', NOW, null)
      await writer.cancelDeliveries([id], NOW)
      await writer.updateCargo({ ...removed, removedAt: NOW })
    })
    await enroll('rebuilt')
    const deliveries = await store.reader.listDeliveries({
      agentId: agent.id,
      statuses: ['pendente'],
    })
    const fresh = deliveries.find(({ cargoId }) => cargoId === live.id)
    assert.notEqual(fresh?.id, old.id)
    assert.equal((await store.reader.findDelivery(old.id))?.replacedBy, fresh?.id)
    assert.equal(deliveries.filter(({ cargoId }) => cargoId === cancelled.id).length, 0)
    assert.equal(deliveries.filter(({ cargoId }) => cargoId === removed.id).length, 1)
  })

  test('[TRU-13] has said nothing of the roots that it trusts', async () => {
    const { id: agentId } = await enroll('trusting')
    const trust = { agentId, number: 3, fingerprints: ['a'], pinned: null, error: null }
    await store.write((writer) => writer.setAgentTrust({ ...trust, reportedAt: NOW }))
    await enroll('trusting')
    assert.deepEqual(await store.reader.listAgentTrust([agentId]), [])
  })

  test('[BLB-2] [BLB-4] has the recipient that it came with, or none, which is recorded', async () => {
    const seq = await lastSeq(store.reader)
    const { id } = await enroll('sealed', { recipient: ONE })
    assert.equal(await store.reader.findRecipient(id), ONE)
    await enroll('sealed', { recipient: ONE })
    await enroll('sealed', { recipient: OTHER })
    await enroll('sealed')
    assert.equal(await store.reader.findRecipient(id), undefined)
    const changes = (await readActs(store.reader, seq)).filter(
      ([type]) => type === 'recipient_changed',
    )
    const base = { actor: 'token', agente_id: id, hostname: 'sealed' }
    assert.deepEqual(
      changes.map(([, payload]) => payload),
      [
        { ...base, from: null, to: ONE_FINGERPRINT },
        { ...base, from: ONE_FINGERPRINT, to: OTHER_FINGERPRINT },
        { ...base, from: OTHER_FINGERPRINT, to: null },
      ],
    )
  })
})

describe('an agent of a role with a politica', () => {
  test('[POL-13] [POL-14] gets its cargas in the same commit; what cannot be delivered is left out, with why', async () => {
    const site = await insertCargo(store, 'site')
    const rival = await insertCargo(store, 'SITE')
    const gone = await insertCargo(store, 'gone')
    await store.write((writer) => writer.updateCargo({ ...gone, removedAt: NOW }))
    const unknown = '00000000-0000-4000-8000-000000000000' as CargoId
    const automaticCargoes = [site.id, rival.id, gone.id, unknown]
    await setPolicy('shop', { automaticCargoes })
    const token = await invite('shop-1', { expectedRole: 'shop' })
    const seq = await lastSeq(store.reader)
    const outcome = await commit(token)
    assert.ok(outcome.ok)
    const deliveries = await store.reader.listDeliveries({ agentId: outcome.agentId })
    assert.deepEqual(
      deliveries.map(({ cargoId, status, version, sans }) => [cargoId, status, version, sans]),
      [[site.id, 'pendente', 1, ['www.example.org', '192.0.2.1']]],
    )
    const [[, payload] = []] = await readActs(store.reader, seq)
    const { politica, cargas_automaticas, cargas_omitidas } = payload as Record<string, unknown>
    assert.equal(politica, 'of shop')
    assert.deepEqual(cargas_automaticas, [site.id])
    assert.deepEqual(cargas_omitidas, [
      { carga_id: rival.id, reason: `carga ${site.id} writes the same file` },
      { carga_id: gone.id, reason: 'removed' },
      { carga_id: unknown, reason: 'removed' },
    ])
  })

  test('[POL-13] gets one that was cancelled anew at its next enrolment, and no second one of another', async () => {
    const [kept, cancelled] = await Promise.all(
      ['kept', 'cancelled-once'].map((name) => insertCargo(store, name)),
    )
    assert.ok(kept && cancelled)
    await setPolicy('cache', { automaticCargoes: [kept.id, cancelled.id] })
    const again = (): Promise<EnrollmentToken> => invite('cache-1', { expectedRole: 'cache' })
    const outcome = await commit(await again())
    assert.ok(outcome.ok)
    const filter = { agentId: outcome.agentId }
    const [, second] = await store.reader.listDeliveries(filter)
    await store.write((writer) => writer.cancelDeliveries([second?.id ?? assert.fail()], NOW))
    await commit(await again())
    const pending = await store.reader.listDeliveries({ ...filter, statuses: ['pendente'] })
    assert.deepEqual(
      new Set(pending.map(({ cargoId }) => cargoId)),
      new Set([kept.id, cancelled.id]),
    )
    assert.equal(pending.length, 2)
  })

  test('[POL-17] is not enrolled again by an operator’s token, unless both politicas leave it to operators', async () => {
    await enroll('op-host')
    const token = (): Promise<EnrollmentToken> =>
      invite('op-host', { expectedRole: 'next', isOperators: true })
    const refused = { ok: false, refusal: 'agent_already_enrolled' }
    assert.deepEqual(await commit(await token()), refused)
    await setPolicy('web', { mayOperatorsReenroll: true })
    assert.deepEqual(await commit(await token()), refused)
    await setPolicy('next', { mayOperatorsReenroll: true })
    assert.equal((await commit(await token())).ok, true)
    await setPolicy('next', { mayOperatorsReenroll: false })
    assert.deepEqual(await commit(await token()), refused, 'by the role that it has by now')
  })
})

describe('[LBL-4] a host that enrols', () => {
  const labelsOf = async ({ id }: Agent): Promise<Record<string, string>> =>
    Object.fromEntries((await store.reader.listLabels([id])).get(id) ?? [])
  const label = ({ id: agentId }: Agent, labels: Record<string, string>): Promise<void> =>
    store.write((writer) =>
      writer.changeLabels([{ agentId, set: new Map(Object.entries(labels)), removed: [] }]),
    )
  const enrollWith = async (hostname: string, labels: Record<string, string>): Promise<Agent> => {
    const token = await invite(hostname, { labels: new Map(Object.entries(labels)) })
    assert.equal((await commit(token)).ok, true)
    return (await store.reader.findAgentByHostname(hostname)) ?? assert.fail()
  }

  test('gets the labels of its token, and the log says so', async () => {
    const seq = await lastSeq(store.reader)
    const agent = await enrollWith('labelled', { env: 'prod' })
    assert.deepEqual(await labelsOf(agent), { env: 'prod' })
    const [, payload] =
      (await readActs(store.reader, seq)).find(([type]) => type === 'agent_enrolled') ?? []
    assert.deepEqual((payload as { labels: unknown }).labels, { env: 'prod' })
    assert.deepEqual(await labelsOf(await enroll('plain')), {})
  })

  test('again keeps what it had, without what its agent said before', async () => {
    const agent = await enrollWith('rebuilt', { env: 'prod', zone: 'a' })
    await label(agent, { 'host.os': 'linux', rack: 'r7' })
    assert.deepEqual(await labelsOf(await enrollWith('rebuilt', { env: 'stage' })), {
      env: 'stage',
      rack: 'r7',
      zone: 'a',
    })
    const kept = { env: 'stage', rack: 'r7', zone: 'a' }
    assert.deepEqual(await labelsOf(await enrollWith('rebuilt', {})), kept)
  })

  test('with more labels than it may have gets those of its token alone', async () => {
    const agent = await enrollWith('full', {})
    const many = Object.fromEntries(Array.from({ length: 32 }, (_, at) => [`k${at}`, '']))
    await label(agent, many)
    assert.deepEqual(await labelsOf(await enrollWith('full', { env: 'prod' })), { env: 'prod' })
  })
})
