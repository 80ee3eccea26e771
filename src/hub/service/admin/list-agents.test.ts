import assert from 'node:assert/strict'
import { after, before, describe, test } from 'node:test'
import { insertAgent, newAgent, newCertificate, NOW } from '../../../../test/store/store-samples.ts'
import { openTemporaryStore } from '../../../../test/support/temporary-store.ts'
import { openAdmin } from '../../../../test/support/told-admin.ts'
import type { AdminOperations, AdminRequest } from '../../../protocol/admin/operations.ts'
import type { AgentId } from '../../../protocol/identifiers.ts'
import type { HostPage } from '../../store/list-store.ts'
import type { Store, StoreReader } from '../../store/store.ts'
import { listAgents } from './list-agents.ts'
import { createPerformOperation } from './perform-operation.ts'

type Request = AdminRequest<'listAgents'>

const HOUR_MS = 3_600_000
const at = (hours: number): Date => new Date(NOW.getTime() + hours * HOUR_MS)

interface SampleHost {
  readonly name: string
  /** Enrolled, from now. */
  readonly enrolled: number
  /** Its certificate of a day ends; undefined for none. */
  readonly ends?: number
  readonly role?: string
  readonly isRevoked?: true
  readonly isSeen?: true
}

/** By another order than any that is asked for. */
const HOSTS: readonly SampleHost[] = [
  { name: 'web-2.sao.example', enrolled: -5, ends: 20, isSeen: true },
  { name: 'web-1.sao.example', enrolled: -7, ends: 1 },
  { name: 'db-1.sao.example', enrolled: -6, ends: -1, role: 'db' },
  { name: 'gone.example', enrolled: -9, isRevoked: true },
  { name: 'new.rio.example', enrolled: -1, ends: 22 },
  { name: 'old.rio.example', enrolled: -20, ends: 15 },
]

async function insertHost(store: Store, host: SampleHost): Promise<AgentId> {
  const { name, enrolled, ends, role = 'web', isRevoked, isSeen } = host
  const agent = {
    ...newAgent(name),
    role,
    createdAt: at(enrolled),
    lastSeenAt: isSeen === true ? NOW : null,
    revokedAt: isRevoked === true ? NOW : null,
  }
  await store.write(async (writer) => {
    await writer.insertAgent(agent)
    if (ends === undefined) return
    const lifetime = { notBefore: at(ends - 24), notAfter: at(ends) }
    await writer.insertCertificate({ ...newCertificate(agent.id), ...lifetime })
  })
  return agent.id
}

/** All pages. */
async function readAll(
  list: (request: Request) => Promise<{ names: string[]; next: string | null }>,
  request: Request,
): Promise<string[]> {
  const found: string[] = []
  for (let cursor: string | null | undefined; cursor !== null;) {
    const page = { ...request, ...(cursor !== undefined && { after: cursor }) }
    const { names, next } = await list(page)
    found.push(...names)
    cursor = next
  }
  return found
}

describe('agents are listed', () => {
  let store: Store & AsyncDisposable
  let admin: AdminOperations
  const online = new Set<AgentId>()
  const notifier = {
    announce: () => undefined,
    announceAll: () => undefined,
    isOnline: (id: AgentId) => online.has(id),
    listOnline: () => [...online],
  }
  before(async () => {
    store = await openTemporaryStore()
    admin = openAdmin(store, { renewalThresholdMs: 8 * HOUR_MS, notifier }).admin
    for (const host of HOSTS) {
      const id = await insertHost(store, host)
      if (host.name.startsWith('old')) online.add(id)
    }
    await admin.labelAgents({ where: 'role=db', set: { env: 'stage' } })
    await admin.labelAgents({ agente: 'new.rio.example', set: { env: 'stage' } })
  })
  after(() => store[Symbol.asyncDispose]())

  const list = async (request: Request) => {
    const { agentes, next, total } = await admin.listAgents(request)
    return { names: agentes.map(({ hostname }) => hostname.split('.')[0] ?? ''), next, total }
  }

  const cases: readonly (readonly [Request, readonly string[], number | null])[] = [
    [{}, ['db-1', 'gone', 'new', 'old', 'web-1', 'web-2'], 6],
    [{ q: 'sao' }, ['db-1', 'web-1', 'web-2'], 3],
    [{ q: 'SAO.' }, ['db-1', 'web-1', 'web-2'], 3],
    [{ q: '%' }, [], 0],
    [{ q: '-1', role: 'web' }, ['web-1'], 1],
    [{ role: 'web' }, ['gone', 'new', 'old', 'web-1', 'web-2'], 5],
    [{ role: 'web', where: 'role=db' }, [], null],
    [{ where: 'env' }, ['db-1', 'new'], 2],
    [{ where: 'env', q: 'rio' }, ['new'], null],
    [{ estado: 'late' }, ['db-1', 'web-1'], 2],
    [{ estado: 'late', q: 'web' }, ['web-1'], 1],
    [{ estado: 'late', where: 'env=stage' }, ['db-1'], 1],
    [{ estado: 'expired' }, ['db-1'], 1],
    [{ estado: 'revoked' }, ['gone'], 1],
    [{ estado: 'connected' }, ['old'], 1],
    [{ estado: 'silent' }, ['db-1', 'web-1'], null],
    [{ estado: 'ok' }, ['new', 'old', 'web-2'], null],
    [{ estado: 'ok', q: 'rio' }, ['new', 'old'], null],
    [{ sort: 'end' }, ['db-1', 'web-1', 'old', 'web-2', 'new'], null],
    [{ sort: 'end', estado: 'late' }, ['db-1', 'web-1'], 2],
    [{ sort: 'end', role: 'web' }, ['web-1', 'old', 'web-2', 'new'], 4],
    [{ sort: 'end', q: 'rio' }, ['old', 'new'], 2],
    [{ sort: 'end', estado: 'ok' }, ['old', 'web-2', 'new'], null],
    [{ sort: 'enrolled' }, ['new', 'web-2', 'db-1', 'web-1', 'gone', 'old'], 6],
    [{ sort: 'enrolled', q: 'sao' }, ['web-2', 'db-1', 'web-1'], 3],
    [{ sort: 'enrolled', estado: 'late' }, ['db-1', 'web-1'], 2],
    [{ sort: 'enrolled', where: '!env' }, ['web-2', 'web-1', 'gone', 'old'], null],
  ]
  for (const [request, expected, total] of cases) {
    test(`[API-122] [API-123] of ${JSON.stringify(request)}, whole and in pages of one`, async () => {
      const whole = await list(request)
      assert.deepEqual(whole, { names: expected, next: null, total })
      assert.deepEqual(await readAll(list, { ...request, limit: 1 }), expected)
    })
  }

  test('[API-123] an order without an index, and a place in no list, are refused', async () => {
    await assert.rejects(admin.listAgents({ sort: 'end', estado: 'revoked' }), {
      code: 'sort_unsupported',
    })
    for (const request of [
      {},
      { q: 'sao' },
      { sort: 'end' },
      { sort: 'enrolled' },
      { sort: 'enrolled', q: 'sao' },
      { sort: 'end', q: 'sao' },
      { estado: 'late' },
      { where: 'env' },
    ] as const) {
      const asked = admin.listAgents({ ...request, after: 'nobody' })
      await assert.rejects(asked, { code: 'cursor_unknown' }, JSON.stringify(request))
    }
  })
})

describe('while hosts are enrolled, renewed and removed', () => {
  for (const request of [
    {},
    { q: 'host' },
    { sort: 'end' },
    { sort: 'end', q: 'host' },
    { sort: 'enrolled' },
    { sort: 'enrolled', q: 'host' },
  ] as const) {
    test(`[API-123] the pages of ${JSON.stringify(request)} have each host that stays once`, async () => {
      await using store = await openTemporaryStore()
      const { admin } = openAdmin(store)
      for (let index = 0; index < 20; index += 1) {
        // Several in one instant.
        const hours = index - (index % 3)
        await insertHost(store, { name: `host-${index}`, enrolled: hours - 90, ends: hours })
      }
      let round = 0
      const list = async (page: Request) => {
        const { agentes, next } = await admin.listAgents(page)
        round += 1
        await insertHost(store, { name: `host-a${round}`, enrolled: round, ends: round })
        await insertHost(store, { name: `host-z${round}`, enrolled: -80 - round, ends: 50 })
        const last = agentes.at(-1)?.hostname ?? ''
        const agent = await store.reader.findAgentByHostname(last)
        // The page ends with a host that goes.
        if (agent !== undefined && last === 'host-7') {
          const gone = { ...agent, revokedAt: NOW, removedAt: NOW }
          await store.write((writer) => writer.updateAgent(gone))
        }
        return { names: agentes.map(({ hostname }) => hostname), next }
      }
      const found = await readAll(list, { ...request, limit: 3 })
      const stayed = found.filter((name) => /^host-\d+$/.test(name))
      const all = Array.from({ length: 20 }, (_, index) => `host-${index}`)
      assert.deepEqual(stayed.toSorted(), all.toSorted())
      assert.equal(new Set(found).size, found.length)
    })
  }
})

test('[API-123] of a selector without an index a page looks at about 5,000 agents, whatever matches', async () => {
  await using store = await openTemporaryStore()
  const { admin } = openAdmin(store)
  await store.write(async (writer) => {
    for (let number = 0; number < 5600; number += 1) {
      await writer.insertAgent(newAgent(`web-${String(number).padStart(4, '0')}`))
    }
    await writer.insertAgent({ ...newAgent('zdb-1'), role: 'db' })
  })
  const first = await admin.listAgents({ where: 'role!=web' })
  assert.deepEqual(first.agentes, [])
  assert.notEqual(first.next, null)
  const second = await admin.listAgents({ where: 'role!=web', after: first.next ?? '' })
  assert.deepEqual(
    second.agentes.map(({ hostname }) => hostname),
    ['zdb-1'],
  )
  assert.equal(second.next, null)
})

test('[LBL-16] whatever a token of some hosts asks for, it sees and counts these alone', async () => {
  await using store = await openTemporaryStore()
  const { admin } = openAdmin(store)
  for (const [name, hours] of [
    ['stage-1', 3],
    ['prod-1', 1],
    ['prod-2', -1],
    ['stage-2', -2],
  ] as const) {
    await insertHost(store, { name, enrolled: -hours - 50, ends: hours })
    await admin.labelAgents({ agente: name, set: { env: name.slice(0, -2) } })
  }
  const gone = await insertAgent(store, 'prod-3')
  await store.write((writer) => writer.updateAgent({ ...gone, revokedAt: NOW }))
  const perform = createPerformOperation({
    store,
    clock: { now: () => NOW, sleep: () => Promise.resolve() },
    addresses: { enrollUrl: '', mtlsUrl: '' },
    hubNames: [],
    contentBytesMax: 1024,
    renewalThresholdMs: 8 * HOUR_MS,
  })
  const caller = { actor: 'token:stage', role: 'viewer', only: 'env=stage' } as const
  for (const [request, expected, total] of [
    [{}, ['stage-1', 'stage-2'], 2],
    [{ q: '-' }, ['stage-1', 'stage-2'], null],
    [{ q: 'prod' }, [], null],
    [{ role: 'web' }, ['stage-1', 'stage-2'], null],
    [{ estado: 'late' }, ['stage-1', 'stage-2'], 2],
    [{ estado: 'expired' }, ['stage-2'], 1],
    [{ estado: 'revoked' }, [], 0],
    [{ estado: 'connected' }, [], 0],
    [{ estado: 'silent' }, ['stage-1', 'stage-2'], null],
    [{ estado: 'ok' }, [], null],
    [{ sort: 'end' }, ['stage-2', 'stage-1'], 2],
    [{ sort: 'enrolled' }, ['stage-2', 'stage-1'], 2],
    [{ sort: 'enrolled', where: 'env=prod' }, [], null],
    [{ sort: 'end', limit: 1 }, ['stage-2'], 2],
  ] as const) {
    const text = JSON.stringify(request)
    const reply = (await perform('listAgents', request, caller)) as {
      agentes: { hostname: string }[]
      total: number | null
    }
    const names = reply.agentes.map(({ hostname }) => hostname)
    assert.deepEqual({ names, total: reply.total }, { names: expected, total }, text)
    assert.doesNotMatch(JSON.stringify(reply), /prod/, text)
  }
})

describe('of a fleet in which many hosts match', () => {
  let store: Store & AsyncDisposable
  const HOSTS_OF_ROLE = 2500
  before(async () => {
    store = await openTemporaryStore()
    await store.write(async (writer) => {
      const labelled = []
      for (let number = 0; number < 2 * HOSTS_OF_ROLE; number += 1) {
        const role = number % 2 === 0 ? 'log' : 'web'
        const agent = { ...newAgent(`${role}-${number}`), role, createdAt: at(-number - 1) }
        await writer.insertAgent(agent)
        const lifetime = { notBefore: at(-1), notAfter: at(1 + number / 1000) }
        await writer.insertCertificate({ ...newCertificate(agent.id), ...lifetime })
        labelled.push({ agentId: agent.id, set: new Map([['env', role]]), removed: [] })
      }
      await writer.changeLabels(labelled)
    })
  })
  after(() => store[Symbol.asyncDispose]())

  for (const request of [
    { where: 'env=log' },
    { role: 'log' },
    { where: 'env=log', sort: 'end' },
    { role: 'log', sort: 'end' },
    { where: 'env=log', sort: 'enrolled' },
    { role: 'log', sort: 'enrolled' },
  ] as const) {
    test(`[API-123] the rows of ${JSON.stringify(request)} are read for one page, and no others`, async () => {
      let rows = 0
      const reader = countingAgents(store.reader, (count) => (rows += count))
      const limit = 200
      const context = {
        store,
        clock: { now: () => NOW, sleep: () => Promise.resolve() },
        renewalThresholdMs: 8 * HOUR_MS,
        actor: 'admin',
        role: 'viewer',
      } as const
      const { agentes, next } = await listAgents(reader, { ...request, limit }, context)
      assert.equal(agentes.length, limit)
      assert.ok(agentes.every(({ role }) => role === 'log'))
      assert.notEqual(next, null)
      // Those of a step at most, of which half match.
      assert.ok(rows >= limit && rows <= limit + 250, `${rows} rows`)
    })
  }
})

/** Tells of the agents that each answer has. */
function countingAgents(reader: StoreReader, tell: (count: number) => void): StoreReader {
  const countIn = (answer: unknown): number => {
    if (Array.isArray(answer)) return answer.filter((one) => isAgent(one)).length
    return isHostPage(answer) ? answer.hosts.length : 0
  }
  return new Proxy(reader, {
    get: (target, name) => {
      const method: unknown = Reflect.get(target, name)
      if (typeof method !== 'function') return method
      return async (...parameters: unknown[]) => {
        const answer: unknown = await method.apply(target, parameters)
        tell(countIn(answer))
        return answer
      }
    },
  })
}

function isAgent(value: unknown): boolean {
  return typeof value === 'object' && value !== null && 'enrolledWith' in value
}

function isHostPage(value: unknown): value is HostPage {
  return typeof value === 'object' && value !== null && 'hosts' in value
}
