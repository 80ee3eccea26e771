// What every Store does, whatever it is made of: one suite for all of them.

import assert from 'node:assert/strict'
import { randomBytes, randomUUID } from 'node:crypto'
import { afterEach, beforeEach, describe, test } from 'node:test'
import type {
  AgentId,
  CargoId,
  DeliveryId,
  Hostname,
  TokenHash,
} from '../../src/protocol/identifiers.ts'
import type { Agent } from '../../src/hub/domain/agent.ts'
import type { EnrollmentToken } from '../../src/hub/domain/enrollment-token.ts'
import type { Store, StoreWriter } from '../../src/hub/store/store.ts'
import { testAccessTokens, testPages } from './store-contract-admin.ts'
import {
  append,
  insertAgent,
  insertCargo,
  insertDelivery,
  insertToken,
  newAgent,
  newCargo,
  newCertificate,
  newEntry,
  LATER,
  NOW,
} from './store-samples.ts'
import { testCertificates } from './store-contract-certificates.ts'
import { testFleetChanges } from './store-contract-changes.ts'
import { testAuditLog } from './store-contract-log.ts'
import { testLabels } from './store-contract-labels.ts'
import { testPolicies } from './store-contract-policies.ts'
import { testRevertedTargets } from './store-contract-reverted.ts'
import { testRootSets } from './store-contract-roots.ts'
import { testPasskeys } from './store-contract-passkeys.ts'
import { testSessions } from './store-contract-sessions.ts'
import { testVersions } from './store-contract-versions.ts'
import { testTokenEnds } from './store-contract-token-ends.ts'
import { testSealedFiles } from './store-contract-sealed.ts'
import { appendEntry } from '../../src/hub/service/append-entries.ts'

const ALL = { afterSeq: 0, limit: 1000 }

export function describeStoreContract(name: string, openStore: () => Promise<Store>): void {
  describe(`${name} as a Store`, () => {
    let store: Store
    beforeEach(async () => {
      store = await openStore()
    })
    afterEach(() => store.close())
    const current = (): Store => store
    describe('agents', () => testAgents(current))
    describe('labels', () => testLabels(current))
    describe('enrollment tokens', () => testTokens(current))
    describe('enrollment tokens and time', () => testTokenEnds(current))
    describe('certificates', () => testCertificates(current))
    describe('cargoes and deliveries', () => testDeliveries(current))
    describe('reverted targets', () => testRevertedTargets(current))
    describe('changes of many deliveries', () => testFleetChanges(current))
    describe('sealed files', () => testSealedFiles(current))
    describe('policies', () => testPolicies(current))
    describe('sets of roots', () => testRootSets(current))
    describe('audit log', () => testAuditLog(current))
    describe('writes', () => testWrites(current))
    describe('versions', () => testVersions(current))
    describe('admin tokens', () => testAccessTokens(current))
    describe('passkeys', () => testPasskeys(current))
    describe('sessions', () => testSessions(current))
    describe('pages and kept replies', () => testPages(current))
  })
}

function testAgents(store: () => Store): void {
  test('an agent is found by id and by hostname, field for field', async () => {
    const agent = {
      ...newAgent('web-1'),
      lastSeenAt: LATER,
      revokedAt: LATER,
      activeIdentity: { seq: 7, since: NOW },
    }
    await store().write((writer) => writer.insertAgent(agent))
    assert.deepEqual(await store().reader.findAgentById(agent.id), agent)
    assert.deepEqual(await store().reader.findAgentByHostname('web-1'), agent)
    assert.equal(await store().reader.findAgentByHostname('WEB-1'), undefined)
    assert.equal(await store().reader.findAgentById(randomUUID() as AgentId), undefined)
  })

  test('agents are listed by hostname', async () => {
    for (const hostname of ['b', 'c', 'a']) await insertAgent(store(), hostname)
    const agents = await store().reader.pageAgents({ limit: 99 })
    assert.deepEqual(
      agents?.map((agent) => agent.hostname),
      ['a', 'b', 'c'],
    )
  })

  test('a hostname belongs to one agent', async () => {
    await insertAgent(store(), 'web-1')
    await assert.rejects(insertAgent(store(), 'web-1'), { code: 'store_conflict' })
    assert.equal((await store().reader.pageAgents({ limit: 99 }))?.length, 1)
  })

  test('an update replaces everything but the id', async () => {
    const agent = await insertAgent(store(), 'web-1')
    const changed: Agent = { ...agent, role: 'db', revokedAt: LATER }
    await store().write((writer) => writer.updateAgent(changed))
    assert.deepEqual(await store().reader.findAgentById(agent.id), changed)
    await assert.rejects(store().write((writer) => writer.updateAgent(newAgent('nobody'))))
  })

  test('what was asked of an agent is kept, the newest of each kind', async () => {
    const agent = await insertAgent(store(), 'web-1')
    const other = await insertAgent(store(), 'web-2')
    const nothing = { syncAt: null, rotation: null }
    const find = (id: AgentId) => store().reader.findAgentRequests(id)
    assert.deepEqual(await find(agent.id), nothing)
    await store().write((writer) => writer.requestSync(agent.id, NOW))
    assert.deepEqual(await find(agent.id), { ...nothing, syncAt: NOW })
    await store().write(async (writer) => {
      await writer.requestRotation(agent.id, { at: NOW, afterSeq: 0 })
      await writer.requestRotation(agent.id, { at: LATER, afterSeq: 7 })
    })
    assert.deepEqual(await find(agent.id), {
      syncAt: NOW,
      rotation: { at: LATER, afterSeq: 7 },
    })
    await store().write((writer) => writer.requestSync(agent.id, LATER))
    assert.deepEqual(await find(agent.id), {
      syncAt: LATER,
      rotation: { at: LATER, afterSeq: 7 },
    })
    assert.deepEqual(await find(other.id), nothing)
  })

  test('seen, polled and the active identity are set one by one', async () => {
    const agent = await insertAgent(store(), 'web-1')
    await store().write(async (writer) => {
      await writer.setAgentSeen(agent.id, LATER)
      await writer.setAgentsPolled(new Map([[agent.id, NOW]]))
      await writer.setActiveIdentity(agent.id, 3, LATER)
    })
    assert.deepEqual(await store().reader.findAgentById(agent.id), {
      ...agent,
      lastSeenAt: LATER,
      activeIdentity: { seq: 3, since: LATER },
    })
    await store().write((writer) => writer.setAgentsPolled(new Map([[agent.id, LATER]])))
    const other = await insertAgent(store(), 'web-2')
    const polls = await store().reader.listLastPolls([agent.id, other.id])
    assert.deepEqual([...polls], [[agent.id, LATER]])
  })
}

function testTokens(store: () => Store): void {
  test('an update replaces everything but the hash of a token', async () => {
    const token = await insertToken(store())
    assert.deepEqual(await store().reader.findToken(token.hash), token)
    const changed: EnrollmentToken = {
      hash: token.hash,
      expectedHostname: 'web-2' as Hostname,
      expectedRole: 'db',
      labels: new Map([['env', 'prod']]),
      createdAt: LATER,
      expiresAt: NOW,
      consumedAt: LATER,
      endedAt: NOW,
      isReenrollment: !token.isReenrollment,
      isOperators: !token.isOperators,
      mismatches: 7,
      joinRuleId: null,
      replay: { fingerprint: 'f', agentId: randomUUID() as AgentId, certificatePem: 'pem' },
    }
    await store().write((writer) => writer.updateToken(changed))
    assert.deepEqual(await store().reader.findToken(token.hash), changed)
    const hash = randomBytes(32).toString('hex') as TokenHash
    await assert.rejects(store().write((writer) => writer.updateToken({ ...token, hash })))
    assert.equal(await store().reader.findToken(hash), undefined)
  })

  test('tokens are listed newest first, and found by the beginning of their hash', async () => {
    const first = await insertToken(store())
    const second = await insertToken(store())
    assert.deepEqual(await store().reader.pageTokens({ limit: 9 }), [second, first])
    const named = await store().reader.findTokensByPrefix(second.hash.slice(0, 16))
    assert.deepEqual(named, [second])
  })
}

function testDeliveries(store: () => Store): void {
  test('cargoes are listed oldest first', async () => {
    const first = await insertCargo(store(), 'site')
    const second = await insertCargo(store(), 'mail')
    assert.deepEqual(await store().reader.pageCargoes({ limit: 9 }), [first, second])
    assert.deepEqual(await store().reader.findCargo(second.id), second)
    assert.equal(await store().reader.findCargo(randomUUID() as CargoId), undefined)
  })

  test('a delivery changes its status, and says when and why', async () => {
    const agent = await insertAgent(store(), 'web-1')
    const delivery = await insertDelivery(store(), agent.id, await insertCargo(store(), 'site'))
    await store().write((writer) => writer.setDeliveryStatus(delivery.id, 'falhou', LATER, 'why'))
    const expected = { ...delivery, status: 'falhou', updatedAt: LATER, error: 'why' }
    assert.deepEqual(await store().reader.findDelivery(delivery.id), expected)
    const unknown = randomUUID() as DeliveryId
    assert.equal(await store().reader.findDelivery(unknown), undefined)
  })

  test('deliveries are selected by agent, cargo and status, oldest first', async () => {
    const web = await insertAgent(store(), 'web')
    const database = await insertAgent(store(), 'db')
    const site = await insertCargo(store(), 'site')
    const mail = await insertCargo(store(), 'mail')
    const a = await insertDelivery(store(), web.id, site)
    const b = await insertDelivery(store(), database.id, site)
    const c = await insertDelivery(store(), web.id, mail)
    await store().write((writer) => writer.setDeliveryStatus(a.id, 'instalada', NOW, null))
    const select = async (
      filter: Parameters<Store['reader']['listDeliveries']>[0],
    ): Promise<string[]> =>
      (await store().reader.listDeliveries(filter)).map((delivery) => delivery.id)
    const ofWeb = { agentId: web.id }
    assert.deepEqual(await select(ofWeb), [a.id, c.id])
    assert.deepEqual(await select({ ...ofWeb, cargoId: site.id }), [a.id])
    assert.deepEqual(await select({ ...ofWeb, statuses: ['pendente'] }), [c.id])
    assert.deepEqual(await select({ ...ofWeb, statuses: [] }), [])
    assert.deepEqual(await select({ agentId: web.id, statuses: ['pendente', 'em_andamento'] }), [
      c.id,
    ])
    const [listed] = await store().reader.listDeliveries({ agentId: database.id })
    assert.deepEqual(listed, { ...b, cargo: site, hostname: 'db' })
    assert.deepEqual(await store().reader.findDeliveryWithCargo(b.id), listed)
    const { deliveries, next } = await store().reader.listCargoDeliveries(site.id, { limit: 9 })
    assert.deepEqual([deliveries.map(({ id }) => id), next], [[a.id, b.id], null])
  })

  test('a delivery belongs to an agent and a cargo that exist', async () => {
    const agent = await insertAgent(store(), 'web-1')
    const refused = insertDelivery(store(), agent.id, newCargo('nothing'))
    await assert.rejects(refused, { code: 'store_conflict' })
  })
}

function testWrites(store: () => Store): void {
  test('a write that throws leaves nothing, and the others of its batch stay', async () => {
    const failure = new Error('no')
    const outcomes = await Promise.allSettled([
      append(store(), { eventType: 'first' }),
      store().write(async (writer) => {
        await appendEntry(writer, newEntry({ eventType: 'undone' }))
        await writer.insertAgent(newAgent('undone'))
        throw failure
      }),
      append(store(), { eventType: 'second' }),
    ])
    assert.deepEqual(
      outcomes.map((outcome) => outcome.status),
      ['fulfilled', 'rejected', 'fulfilled'],
    )
    assert.equal((outcomes[1] as PromiseRejectedResult).reason, failure)
    const entries = await store().reader.listEntries(ALL)
    assert.deepEqual(
      entries.map((entry) => [entry.seq, entry.eventType]),
      [
        [1, 'first'],
        [2, 'second'],
      ],
    )
    assert.equal(entries[1]?.previousHash, entries[0]?.hash)
    assert.deepEqual(await store().reader.pageAgents({ limit: 99 }), [])
  })

  test('its version changes with every commit of rows, and not with what changes all the time', async () => {
    const agent = await insertAgent(store(), 'counted')
    const { id } = agent
    const quiet = store().version
    await append(store(), {})
    await store().write(async (writer) => {
      await writer.setAgentSeen(id, NOW)
      await writer.setAgentsPolled(new Map([[id, NOW]]))
      await writer.setEventDebt(id, { bytes: 1, reserveBytes: 0, at: NOW })
    })
    assert.equal(store().version, quiet)
    const seen = new Set([quiet])
    const changes: readonly ((writer: StoreWriter) => Promise<unknown>)[] = [
      (writer) => writer.insertAgent(newAgent('another')),
      (writer) => writer.updateAgent({ ...agent, revokedAt: NOW }),
      (writer) => writer.revokeCertificates(id, NOW).then(() => writer.requestSync(id, NOW)),
      // Its row comes back from the insert itself.
      (writer) => writer.insertCertificate(newCertificate(id)),
    ]
    for (const change of changes) {
      await store().write(change)
      assert.ok(!seen.has(store().version), change.toString())
      seen.add(store().version)
    }
  })

  test('the writer sees what it wrote, the reader only what is committed', async () => {
    await store().write(async (writer) => {
      await writer.insertAgent(newAgent('web-1'))
      assert.equal((await writer.pageAgents({ limit: 99 }))?.length, 1)
      assert.equal((await store().reader.pageAgents({ limit: 99 }))?.length, 0)
    })
    assert.equal((await store().reader.pageAgents({ limit: 99 }))?.length, 1)
  })

  test('a write resolves with the value of its function', async () => {
    assert.equal(await store().write(async () => 'value'), 'value')
  })

  test('many concurrent writes all happen, each once and in order', async () => {
    const written = await Promise.all(
      Array.from({ length: 600 }, (_, index) => append(store(), { eventType: `t${index}` })),
    )
    const entries = await store().reader.listEntries(ALL)
    assert.deepEqual(entries, written)
  })

  test('a closed store settles what it accepted and refuses the rest', async () => {
    const accepted = append(store(), {})
    const closed = store().close()
    const refused = append(store(), {})
    await assert.rejects(refused, { code: 'store_unavailable' })
    assert.equal((await accepted).seq, 1)
    await closed
    await assert.rejects(store().reader.pageAgents({ limit: 99 }), { code: 'store_unavailable' })
  })
}
