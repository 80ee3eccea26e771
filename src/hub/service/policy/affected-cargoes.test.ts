import assert from 'node:assert/strict'
import { after, before, beforeEach, test } from 'node:test'
import { insertDelivery, newAgent, newCargo, NOW } from '../../../../test/store/store-samples.ts'
import { openTemporaryStore } from '../../../../test/support/temporary-store.ts'
import type { Agent } from '../../domain/agent.ts'
import type { Cargo } from '../../domain/cargo.ts'
import type { Delivery } from '../../domain/delivery.ts'
import type { Store } from '../../store/store.ts'
import { lookAtGovernedAgents } from './affected-cargoes.ts'
import { emptyPolicy } from './parse-policy.ts'

let store: Store & AsyncDisposable
before(async () => {
  store = await openTemporaryStore()
})
after(() => store[Symbol.asyncDispose]())
beforeEach(async () => {
  for (const { role } of await store.reader.listPolicies()) {
    await store.write((writer) => writer.removePolicy(role))
  }
})

async function insert(
  hostname: string,
  role: string,
  changes: Partial<Agent> = {},
): Promise<Agent> {
  const agent = { ...newAgent(hostname), role, ...changes }
  await store.write((writer) => writer.insertAgent(agent))
  return agent
}

async function insertCargo(name: string, sans: readonly string[]): Promise<Cargo> {
  const cargo = { ...newCargo(name), sans }
  await store.write((writer) => writer.insertCargo(cargo))
  return cargo
}

function permit(role: string, permittedSans: readonly string[]): Promise<void> {
  const policy = { ...emptyPolicy(role), permittedSans, areSansNamed: true }
  return store.write((writer) => writer.setPolicy(policy))
}

test('[POL-11] names each carga with a live entrega that the row forbids: its names and its hosts', async () => {
  const [one, other] = [await insert('a-1', 'a'), await insert('a-2', 'a')]
  const site = await insertCargo('site', ['a.ok', 'b.bad', 'c.bad'])
  const own = await insertCargo('own', ['a-1', 'a.ok'])
  const over: Delivery[] = []
  for (const agent of [one, other]) await insertDelivery(store, agent.id, site)
  await insertDelivery(store, one.id, own)
  for (const status of ['cancelada', 'substituida'] as const) {
    const delivery = await insertDelivery(store, one.id, await insertCargo(status, ['d.bad']))
    await store.write((writer) => writer.setDeliveryStatus(delivery.id, status, NOW, null))
    over.push(delivery)
  }
  await permit('a', ['*.ok', 'a.ok'])
  assert.deepEqual(await lookAtGovernedAgents(store.reader, 'a'), {
    hostnames: ['a-1', 'a-2'],
    affected: [
      { carga_id: site.id, nome: 'site', sans: ['b.bad', 'c.bad'], agentes: ['a-1', 'a-2'] },
    ],
  })
  await permit('a', ['*'])
  assert.deepEqual((await lookAtGovernedAgents(store.reader, 'a')).affected, [])
})

test('[POL-2] the row of every role speaks for those that have none of their own, and for no revoked one', async () => {
  const [own, none] = [await insert('b-1', 'b'), await insert('c-1', 'c')]
  await insert('c-2', 'c', { revokedAt: NOW })
  await insert('c-3', 'c', { removedAt: NOW, revokedAt: NOW })
  const cargo = await insertCargo('both', ['x.bad'])
  for (const agent of [own, none]) await insertDelivery(store, agent.id, cargo)
  await permit('*', [])
  await permit('b', ['*'])
  const { hostnames, affected } = await lookAtGovernedAgents(store.reader, '*')
  assert.ok(hostnames.includes('c-1'))
  assert.ok(!hostnames.some((name) => ['b-1', 'c-2', 'c-3'].includes(name)))
  assert.deepEqual(affected.find(({ nome }) => nome === 'both')?.agentes, ['c-1'])
  assert.deepEqual((await lookAtGovernedAgents(store.reader, 'b')).hostnames, ['b-1'])
  assert.deepEqual((await lookAtGovernedAgents(store.reader, 'c')).hostnames, ['c-1'])
})

test('[FLT-7] looks at all agents when they are more than are looked at in one turn', async () => {
  await store.write(async (writer) => {
    for (let index = 0; index < 501; index += 1) {
      await writer.insertAgent({ ...newAgent(`many-${index}`), role: 'many' })
    }
  })
  assert.equal((await lookAtGovernedAgents(store.reader, 'many')).hostnames.length, 501)
})
