import assert from 'node:assert/strict'
import { randomUUID } from 'node:crypto'
import { test } from 'node:test'
import { formatTimestamp } from '../../../audit/hash-chain.ts'
import { timeOrderedUuid } from '../../../platform/time-ordered-uuid.ts'
import {
  insertAgent,
  insertCargo,
  insertCertificate,
  insertDelivery,
  newCargo,
  NOW,
} from '../../../../test/store/store-samples.ts'
import { openTemporaryStore } from '../../../../test/support/temporary-store.ts'
import { viewDeliveries } from '../admin/view-deliveries.ts'
import type { Store } from '../../store/store.ts'
import { createEventBudget, type EventBudget, type EventBudgetOptions } from './event-budget.ts'
import { createRecordEvent } from './record-event.ts'

test('[AUT-16] an event that waits to be written while its agent is revoked is refused and not recorded', async () => {
  await withStore(async (store) => {
    const recordEvent = createRecordEvent(CLOCK, LIMITS, budgetOf(store))
    const agent = await insertAgent(store, 'web-1')
    const event = { tipo_evento: 'agent_started', payload: {}, request_id: 'once' }
    assert.equal((await recordEvent(agent, event)).ok, true)
    const revoked = store.write((writer) => writer.updateAgent({ ...agent, revokedAt: NOW }))
    const outcomes = [event, { ...event, request_id: 'twice' }].map((one) =>
      recordEvent(agent, one),
    )
    await revoked
    for (const outcome of await Promise.all(outcomes)) {
      assert.deepEqual(outcome, { ok: false, refusal: 'agent_revoked' })
    }
    assert.equal((await store.reader.listEntries({ afterSeq: 0, limit: 10 })).length, 1)
    assert.equal((await store.reader.findAgentById(agent.id))?.lastSeenAt, null)
  })
})

test('[ARC-10] an event that may have been archived is refused, and no other one', async () => {
  await withStore(async (store) => {
    const recordEvent = createRecordEvent(CLOCK, LIMITS, budgetOf(store))
    const agent = await insertAgent(store, 'web-1')
    const madeDaysAgo = (days: number): string =>
      timeOrderedUuid(new Date(NOW.getTime() - days * 86_400_000))
    const send = (request_id: string) =>
      recordEvent(agent, { tipo_evento: 'agent_started', payload: {}, request_id })
    const first = madeDaysAgo(90)
    assert.equal((await send(first)).ok, true)
    const lastTimestamp = formatTimestamp(new Date(NOW.getTime() - 60 * 86_400_000))
    const zeros = '0'.repeat(64)
    await store.write((writer) =>
      writer.insertSegment({
        first: 1,
        last: 256,
        firstTimestamp: lastTimestamp,
        lastTimestamp,
        previousHash: zeros,
        hash: zeros,
        file: 'file',
        bytes: 1,
        createdAt: NOW,
      }),
    )
    // As long as the vault has the entry, it is answered again.
    assert.equal((await send(first)).ok, true)
    await store.write((writer) => writer.removeArchived(10))
    for (const refused of [first, madeDaysAgo(61)]) {
      assert.deepEqual(await send(refused), { ok: false, refusal: 'request_id_conflict' })
    }
    for (const taken of [madeDaysAgo(59), madeDaysAgo(0), randomUUID(), 'r-1']) {
      assert.equal((await send(taken)).ok, true, taken)
    }
  })
})

test('[BLB-12] an identity that was never used stays one when a sealed file arrives, unlike at a csr_cert', async () => {
  await withStore(async (store) => {
    const recordEvent = createRecordEvent(CLOCK, LIMITS, budgetOf(store))
    const agent = await insertAgent(store, 'web-1')
    const identity = await insertCertificate(store, agent.id)
    const sealed = { ...newCargo('secret'), kind: 'selado' } as const
    await store.write((writer) => writer.insertCargo(sealed))
    for (const cargo of [sealed, await insertCargo(store, 'site')]) {
      const { id } = await insertDelivery(store, agent.id, cargo)
      const event = { tipo_evento: 'entrega_entregue', payload: {}, entrega_id: id }
      assert.equal((await recordEvent(agent, event)).ok, true)
      const found = await store.reader.findCertificate(identity.sha256)
      assert.equal(found?.purpose, cargo === sealed ? 'identity' : 'delivery')
    }
  })
})

test('[DEL-18] a delivery is revertida from the report of a target until each of its targets is applied', async () => {
  await withStore(async (store) => {
    const recordEvent = createRecordEvent(CLOCK, LIMITS, budgetOf(store))
    const agent = await insertAgent(store, 'web-1')
    const { id } = await insertDelivery(store, agent.id, await insertCargo(store, 'site'))
    const send = async (type: string, payload: Record<string, unknown>) => {
      const event = { tipo_evento: type, payload, entrega_id: id }
      assert.equal((await recordEvent(agent, event)).ok, true)
      const [delivery] = await viewDeliveries(
        store.reader,
        await store.reader.listDeliveries({ agentId: agent.id }),
      )
      assert.ok(delivery)
      const { status, erro, reverted_at: at, alvos_revertidos: targets } = delivery
      return { status, erro, at, targets: targets.map(({ alvo }) => alvo) }
    }
    const fault = { nome: 'site', serial: '0a', step: 'reload', reason: 'exit status 1' }
    await send('entrega_instalada', {})
    const output = 'nginx: [emerg]'
    assert.deepEqual(await send('alvo_revertido', { ...fault, alvo: 'nginx.toml', output }), {
      status: 'instalada',
      erro: 'alvo_revertido reload: exit status 1\nnginx: [emerg]',
      at: NOW.toISOString(),
      targets: ['nginx.toml'],
    })
    await send('alvo_revertido', { ...fault, alvo: 'haproxy.toml', step: 'probe' })
    // Root's applier and the agent's know nothing of each other.
    const first = await send('alvo_aplicado', { nome: 'site', serial: '0a', alvo: 'haproxy.toml' })
    assert.deepEqual(first.targets, ['nginx.toml'])
    assert.equal(first.erro, 'alvo_revertido reload: exit status 1\nnginx: [emerg]')
    const last = await send('alvo_aplicado', { nome: 'site', serial: '0a', alvo: 'nginx.toml' })
    assert.deepEqual(last, { status: 'instalada', erro: null, at: null, targets: [] })
    await send('alvo_revertido', { ...fault, alvo: 'nginx.toml' })
    const removed = await send('alvo_removido', { nome: 'site', alvo: 'nginx.toml' })
    assert.deepEqual(removed, last)
  })
})

test('[LIM-40] beyond its bytes of a day an agent is told to wait, also by a hub that was started again', async () => {
  await withStore(async (store) => {
    const agent = await insertAgent(store, 'web-1')
    const other = await insertAgent(store, 'web-2')
    const overdrafts: unknown[] = []
    const facts = {
      bytesPerDay: 10_000,
      onOverdraft: ({ refusal }: { refusal: string }): void => void overdrafts.push(refusal),
    }
    const send = (size: number, from = agent) =>
      createRecordEvent(
        CLOCK,
        LIMITS,
        budgetOf(store, facts),
      )(from, {
        tipo_evento: 'agent_started',
        payload: { text: 'x'.repeat(size) },
      })
    assert.equal((await send(5000)).ok, true)
    assert.equal((await send(8000)).ok, true)
    const { ok, ...refused } = await send(10)
    assert.equal(ok, false)
    // 15,070 bytes are owed, and 10,000 paid back a day.
    assert.deepEqual(refused, { refusal: 'rate_limited', waitMs: 43_813_440 })
    assert.equal((await send(10, other)).ok, true)
    assert.deepEqual(overdrafts, ['rate_limited'])
    assert.equal((await store.reader.listEntries({ afterSeq: 0, limit: 10 })).length, 3)
  })
})

test('[LIM-40] what is written at once is charged one after the other', async () => {
  await withStore(async (store) => {
    const agent = await insertAgent(store, 'web-1')
    const record = createRecordEvent(CLOCK, LIMITS, budgetOf(store, { bytesPerDay: 3000 }))
    const event = { tipo_evento: 'agent_started', payload: {} }
    const outcomes = await Promise.all(Array.from({ length: 8 }, () => record(agent, event)))
    assert.deepEqual(
      outcomes.map(({ ok }) => ok),
      [true, true, true, false, false, false, false, false],
    )
    assert.equal((await store.reader.listEntries({ afterSeq: 0, limit: 10 })).length, 3)
  })
})

test('[LIM-40] [EVT-11] an event that is refused, or was recorded before, costs nothing', async () => {
  await withStore(async (store) => {
    const agent = await insertAgent(store, 'web-1')
    const record = createRecordEvent(CLOCK, LIMITS, budgetOf(store))
    const event = { tipo_evento: 'agent_started', payload: {}, request_id: 'once' }
    for (let count = 0; count < 3; count += 1) assert.ok((await record(agent, event)).ok)
    const stray = { ...event, request_id: 'stray', entrega_id: randomUUID() }
    assert.deepEqual(await record(agent, stray), { ok: false, refusal: 'entrega_not_found' })
    const { bytes } = (await store.reader.findEventDebt(agent.id)) ?? {}
    assert.equal(bytes, 1026)
  })
})

test('[LIM-41] below the floor one that floods leaves the others their reserve', async () => {
  await withStore(async (store) => {
    const [flooding, honest] = [
      await insertAgent(store, 'web-1'),
      await insertAgent(store, 'web-2'),
    ]
    const inReserve = budgetOf(store, { findRoom: () => Promise.resolve('reserve') })
    const record = createRecordEvent(CLOCK, LIMITS, inReserve)
    const flood = { tipo_evento: 'flood', payload: { text: 'x'.repeat(15_000) } }
    const outcomes = []
    for (let count = 0; count < 20; count += 1) outcomes.push(await record(flooding, flood))
    assert.equal(outcomes.filter(({ ok }) => ok).length, 2)
    assert.deepEqual(outcomes.at(-1), { ok: false, refusal: 'unavailable' })
    const event = { tipo_evento: 'cert_renewed', payload: { serial: '0'.repeat(200) } }
    for (let count = 0; count < 12; count += 1) assert.ok((await record(honest, event)).ok)
  })
})

const CLOCK = { now: () => NOW, sleep: () => Promise.resolve() }

const LIMITS = { eventPayloadBytes: 16_384 }

function budgetOf(store: Store, facts: Partial<EventBudgetOptions> = {}): EventBudget {
  return createEventBudget({
    store,
    clock: CLOCK,
    bytesPerDay: 64 * 1024 * 1024,
    findRoom: () => Promise.resolve('enough'),
    ...facts,
  })
}

async function withStore(work: (store: Store) => Promise<void>): Promise<void> {
  await using store = await openTemporaryStore()
  await work(store)
}
