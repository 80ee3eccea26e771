import assert from 'node:assert/strict'
import { randomUUID } from 'node:crypto'
import { describe, test } from 'node:test'
import { openAdmin } from '../../../../test/support/told-admin.ts'
import { openTemporaryStore } from '../../../../test/support/temporary-store.ts'
import type { AdminOperations } from '../../../protocol/admin/operations.ts'
import type { CargoId, DeliveryId } from '../../../protocol/identifiers.ts'
import type { Agent } from '../../domain/agent.ts'
import { insertAgent, newAgent, NOW } from '../../../../test/store/store-samples.ts'
import type { Store } from '../../store/store.ts'
import { type ChangeProgress, createFleetChanges, type FleetChanges } from './fleet-changes.ts'
import { newDelivery } from './replace-delivery.ts'

const AGENTS = 600
const CREATE = { tipo: 'csr_cert', nome: 'site', agentes: [], roles: ['web'], sans: [] }
const ALL = { limit: 10_000 }

interface Fleet {
  readonly store: Store
  readonly changes: FleetChanges
  readonly admin: AdminOperations
  readonly agents: readonly Agent[]
}

async function withFleet(work: (fleet: Fleet) => Promise<void>): Promise<void> {
  await using store = await openTemporaryStore()
  const agents = Array.from({ length: AGENTS }, (_, index) => newAgent(`web-${index}`))
  await store.write(async (writer) => {
    for (const agent of agents) await writer.insertAgent(agent)
  })
  await work({ store, agents, ...operationsOn(store) })
}

function operationsOn(store: Store): Pick<Fleet, 'changes' | 'admin'> {
  const changes = createFleetChanges(store)
  return { changes, admin: openAdmin(store, { changes }).admin }
}

/** How many entregas there are of each version and status, as everybody sees them. */
async function countSeen({ reader }: Store): Promise<Record<string, number>> {
  const seen: Record<string, number> = {}
  for (const { version, status } of (await reader.pageDeliveries(ALL)) ?? []) {
    const key = `${version} ${status}`
    seen[key] = (seen[key] ?? 0) + 1
  }
  return seen
}

/** Looks again and again until the act has ended, and answers each state that it saw once. */
async function watching<T>(store: Store, act: Promise<T>): Promise<{ done: T; states: object[] }> {
  const states: string[] = []
  const progress = { hasEnded: false }
  const ended = act.finally(() => {
    progress.hasEnded = true
  })
  while (!progress.hasEnded) {
    const state = JSON.stringify(await countSeen(store))
    if (states.at(-1) !== state) states.push(state)
    await new Promise((resolve) => {
      setImmediate(resolve)
    })
  }
  return { done: await ended, states: states.map((state) => JSON.parse(state) as object) }
}

async function countEntries({ reader }: Store, eventType: string): Promise<number> {
  return (await reader.listLastEntries({ eventType }, 10_000)).length
}

describe('an act on more entregas than one write takes', () => {
  test('[FLT-1] [FLT-2] [FLT-6] is there at once for who reads: create, update, retry, remove', () =>
    withFleet(async ({ store, admin }) => {
      const created = await watching(store, admin.createCargo(CREATE))
      assert.equal(created.done.entregas.length, AGENTS)
      assert.deepEqual(
        created.states,
        [{}, { '1 pendente': AGENTS }].slice(0, created.states.length),
      )
      const [entry] = await store.reader.listLastEntries({ eventType: 'carga_created' }, 1)
      assert.match(entry?.payloadText ?? '', /"versao":1,"sans":\[\],"agentes_total":600\}$/)
      const { carga_id: carga } = created.done
      const updated = await watching(store, admin.updateCargo({ carga, sans: ['a.example'] }))
      assert.deepEqual([updated.done.versao, updated.done.entregas.length], [2, AGENTS])
      const after = { '1 substituida': AGENTS, '2 pendente': AGENTS }
      for (const state of updated.states.slice(1)) assert.deepEqual(state, after)
      assert.deepEqual(await countSeen(store), after)

      await store.write(async (writer) => {
        for (const { id } of updated.done.entregas) {
          await writer.setDeliveryStatus(id as DeliveryId, 'falhou', NOW, 'why')
        }
      })
      const retried = await watching(store, admin.retryDeliveries({}))
      assert.equal(retried.done.entregas.length, AGENTS)
      assert.equal(retried.done.entregas[0]?.status, 'pendente')
      const again = { '1 substituida': AGENTS, '2 substituida': AGENTS, '2 pendente': AGENTS }
      for (const state of retried.states.slice(1)) assert.deepEqual(state, again)
      assert.equal(await countEntries(store, 'entrega_retried'), AGENTS)

      const removed = await watching(store, admin.removeCargo({ carga }))
      const none = { '1 substituida': AGENTS, '2 substituida': AGENTS, '2 cancelada': AGENTS }
      for (const state of removed.states.slice(1)) assert.deepEqual(state, none)
      assert.deepEqual(await countSeen(store), none)
      assert.equal(await countEntries(store, 'entrega_cancelled'), AGENTS)
      assert.deepEqual(await store.reader.listChanges(), [])
    }))

  test('[FLT-9] that tries again what failed for one reason counts these alone', () =>
    withFleet(async ({ store, admin, changes }) => {
      const { entregas } = await admin.createCargo(CREATE)
      await store.write(async (writer) => {
        for (const [at, { id }] of entregas.entries()) {
          const why = at % 3 === 0 ? 'no room' : 'why'
          await writer.setDeliveryStatus(id as DeliveryId, 'falhou', NOW, why)
        }
      })
      const progress: ChangeProgress[] = []
      const keep = setInterval(() => {
        if (changes.underWay !== undefined) progress.push({ ...changes.underWay })
      })
      const retried = await admin.retryDeliveries({ erro: 'no room' })
      clearInterval(keep)
      assert.equal(retried.entregas.length, AGENTS / 3)
      assert.notEqual(progress.length, 0)
      for (const seen of progress) {
        assert.equal(seen.total, AGENTS / 3)
        assert.ok(seen.prepared <= seen.total && seen.settled <= seen.total)
      }
    }))

  test('[FLT-2] is refused as a whole', () =>
    withFleet(async ({ store, admin, agents }) => {
      const last =
        agents
          .map(({ id }) => id)
          .toSorted()
          .at(-1) ?? ''
      const other = { ...CREATE, nome: 'SITE.crt', agentes: [last], roles: [] }
      const push = { agente: last, nome: 'SITE.crt', conteudo: 'x' }
      await admin.pushToAgent(push)
      await assert.rejects(admin.createCargo({ ...other, nome: 'site' }), { code: 'nome_taken' })
      await assert.rejects(admin.createCargo(CREATE), { code: 'nome_taken' })
      assert.deepEqual(await countSeen(store), { '1 pendente': 1 })
      assert.deepEqual((await admin.listCargoes({})).cargas.length, 1)
      const { entregas } = await admin.createCargo({ ...CREATE, nome: 'mail' })
      assert.equal(entregas.length, AGENTS)
      assert.deepEqual(await store.reader.listChanges(), [])
    }))

  test('[FLT-3] was never there when the hub ends before it is in force', () =>
    withFleet(async ({ store, admin, changes }) => {
      const { carga_id: carga } = await admin.createCargo(CREATE)
      const update = admin.updateCargo({ carga })
      await prepared(changes, 250)
      changes.close()
      await assert.rejects(update, { code: 'store_unavailable' })
      assert.deepEqual(await countSeen(store), { '1 pendente': AGENTS })
      const next = operationsOn(store)
      await next.changes.inTurn(async () => undefined)
      assert.deepEqual(await store.reader.listChanges(), [])
      assert.deepEqual(await countSeen(store), { '1 pendente': AGENTS })
      assert.equal((await next.admin.updateCargo({ carga })).entregas.length, AGENTS)
      const after = { '1 substituida': AGENTS, '2 pendente': AGENTS }
      assert.deepEqual(await countSeen(store), after)
    }))

  test('[FLT-3] is finished by the next start when the hub ends after', () =>
    withFleet(async ({ store, admin, changes }) => {
      const { carga_id: carga } = await admin.createCargo(CREATE)
      const remove = admin.removeCargo({ carga })
      await settled(changes, 250)
      changes.close()
      await assert.rejects(remove, { code: 'store_unavailable' })
      assert.deepEqual(await countSeen(store), { '1 cancelada': AGENTS })
      assert.equal((await store.reader.listChanges()).length, 1)
      await operationsOn(store).changes.inTurn(async () => undefined)
      assert.deepEqual(await store.reader.listChanges(), [])
      assert.deepEqual(await countSeen(store), { '1 cancelada': AGENTS })
      assert.equal(await countEntries(store, 'entrega_cancelled'), AGENTS)
      assert.equal(await countEntries(store, 'carga_removed'), 1)
    }))

  test('[FLT-5] an update reaches whoever gets the carga meanwhile', () =>
    withFleet(async ({ store, admin, changes }) => {
      const { carga_id: carga } = await admin.createCargo(CREATE)
      const update = admin.updateCargo({ carga })
      await prepared(changes, 250)
      const late = await insertAgent(store, 'late')
      await store.write(async (writer) => {
        const cargo = await writer.findCargo(carga as CargoId)
        assert.ok(cargo)
        await writer.insertDeliveries([newDelivery(cargo, late.id, NOW)])
      })
      assert.equal((await update).entregas.length, AGENTS + 1)
      const after = { '1 substituida': AGENTS + 1, '2 pendente': AGENTS + 1 }
      assert.deepEqual(await countSeen(store), after)
    }))

  test('[FLT-4] they wait for one another', () =>
    withFleet(async ({ store, admin }) => {
      const { carga_id: carga } = await admin.createCargo(CREATE)
      const versions = await Promise.all([1, 2].map(() => admin.updateCargo({ carga })))
      assert.deepEqual(
        versions.map(({ versao }) => versao),
        [2, 3],
      )
      await admin.removeCargo({ carga })
      await assert.rejects(admin.updateCargo({ carga }), { code: 'cargo_not_found' })
      assert.equal((await countSeen(store))['3 cancelada'], AGENTS)
    }))

  test('[API-16] a create is done once, and answered alike, whenever it is repeated', () =>
    withFleet(async ({ store, changes }) => {
      const secret = { credential: 'svca_x', key: randomUUID() }
      const told = openAdmin(store, { changes })
      const once = (): AdminOperations => told.as('admin', secret)
      const [first, second] = await Promise.all([1, 2].map(() => once().createCargo(CREATE)))
      const third = await once().createCargo(CREATE)
      assert.equal(first?.entregas.length, AGENTS)
      assert.deepEqual(second, first)
      assert.deepEqual(third, first)
      assert.deepEqual(await countSeen(store), { '1 pendente': AGENTS })
    }))
})

test('[FLT-7] a politica tells of all agents that it speaks for', () =>
  withFleet(async ({ admin }) => {
    const { carga_id: carga } = await admin.createCargo({ ...CREATE, sans: ['a.example'] })
    const set = await admin.setPolicy({ role: 'web', nome: 'web', sans_permitidos: [] })
    assert.deepEqual(
      set.cargas_afetadas.map(({ carga_id, sans, agentes }) => [carga_id, sans, agentes.length]),
      [[carga, ['a.example'], AGENTS]],
    )
    assert.equal((await admin.showPolicy({ role: 'web' })).agentes.length, AGENTS)
  }))

async function prepared(changes: FleetChanges, count: number): Promise<void> {
  await until(() => (changes.underWay?.prepared ?? 0) >= count)
}

async function settled(changes: FleetChanges, count: number): Promise<void> {
  await until(() => (changes.underWay?.settled ?? 0) >= count)
}

async function until(isSo: () => boolean): Promise<void> {
  for (let turn = 0; turn < 100_000; turn += 1) {
    if (isSo()) return
    await new Promise((resolve) => {
      setImmediate(resolve)
    })
  }
  assert.fail('it never came to that')
}
