import assert from 'node:assert/strict'
import { after, before, test } from 'node:test'
import {
  append,
  insertAgent,
  insertDelivery,
  newCargo,
  newContent,
  NOW,
} from '../../../../test/store/store-samples.ts'
import { NO_POLLS } from '../../../../test/fakes/no-polls.ts'
import { openTemporaryStore } from '../../../../test/support/temporary-store.ts'
import type { Agent } from '../../domain/agent.ts'
import type { Cargo } from '../../domain/cargo.ts'
import type { Delivery } from '../../domain/delivery.ts'
import type { Store } from '../../store/store.ts'
import { createListManifest, type ListManifest } from './list-manifest.ts'

let store: Store & AsyncDisposable
let listManifest: ListManifest
const polled: string[] = []

before(async () => {
  store = await openTemporaryStore()
  const record = (id: string): void => void polled.push(id)
  listManifest = createListManifest(store, { ...NO_POLLS, record }, async () => true)
})
after(() => store[Symbol.asyncDispose]())

async function deliver(
  agent: Agent,
  name: string,
  changes: Partial<Cargo> = {},
): Promise<Delivery> {
  const cargo = { ...newCargo(name), ...changes }
  await store.write((writer) => writer.insertCargo(cargo))
  return insertDelivery(store, agent.id, cargo)
}

test('[MAN-1] [MAN-5] is empty for an agent without any, and is a poll of that agent', async () => {
  const agent = await insertAgent(store, 'empty')
  assert.deepEqual(await listManifest(agent), { entregas: [] })
  assert.deepEqual(polled, [agent.id])
})

test('[MAN-2] lists what is pendente or em_andamento, and of this agent alone', async () => {
  const agent = await insertAgent(store, 'web-1')
  await deliver(await insertAgent(store, 'web-2'), 'other')
  const statuses = [
    'pendente',
    'em_andamento',
    'instalada',
    'entregue',
    'falhou',
    'cancelada',
    'substituida',
  ] as const
  for (const status of statuses) {
    const { id } = await deliver(agent, status)
    await store.write((writer) => writer.setDeliveryStatus(id, status, NOW, null))
  }
  const { entregas } = await listManifest(agent)
  assert.deepEqual(
    entregas.map(({ nome, status }) => [nome, status]),
    [
      ['pendente', 'pendente'],
      ['em_andamento', 'em_andamento'],
    ],
  )
})

test('[MAN-3] [DEL-2] [DEL-3] [PSH-23] names each by its carga, and only a push says its mode', async () => {
  const agent = await insertAgent(store, 'web-3')
  const site = await deliver(agent, 'site', { version: 7 })
  const sealed = await deliver(agent, 'secret', { kind: 'selado' })
  const pushed = await deliver(agent, 'motd', { kind: 'push' })
  await store.write(async (writer) => {
    await writer.setContent(sealed.cargoId, newContent(10))
    await writer.setContent(pushed.cargoId, { ...newContent(10), mode: 0o640 })
  })
  const entry = ({ id, cargoId }: Delivery, tipo: string, nome: string, versao = 1): object => {
    return { id, carga_id: cargoId, tipo, nome, versao, status: 'pendente' }
  }
  assert.deepEqual(await listManifest(agent), {
    entregas: [
      entry(site, 'csr_cert', 'site', 7),
      entry(sealed, 'selado', 'secret'),
      { ...entry(pushed, 'push', 'motd'), modo: '0640' },
    ],
  })
})

test('[MAN-1] [FLT-2] is read again after every change, and not after what others tell the log', async () => {
  const agent = await insertAgent(store, 'web-5')
  const cargo = newCargo('changing')
  await store.write((writer) => writer.insertCargo(cargo))
  const { id } = await insertDelivery(store, agent.id, cargo)
  const first = await listManifest(agent)
  await append(store, {})
  assert.equal(await listManifest(agent), first)
  await store.write((writer) => writer.setDeliveryStatus(id, 'em_andamento', NOW, null))
  const { entregas } = await listManifest(agent)
  assert.deepEqual(
    [first, { entregas }].map((manifest) => manifest.entregas.map(({ status }) => status)),
    [['pendente'], ['em_andamento']],
  )
})

test('[MAN-1] is not read again when another agent changes', async () => {
  const agent = await insertAgent(store, 'web-6')
  const other = await insertAgent(store, 'web-7')
  const first = await listManifest(agent)
  await store.write((writer) => writer.setActiveIdentity(other.id, 1, NOW))
  assert.equal(await listManifest(agent), first)
  await deliver(agent, 'site')
  assert.equal((await listManifest(agent)).entregas.length, 1)
})

test('[MAN-4] changes nothing', async () => {
  const agent = await insertAgent(store, 'web-4')
  await deliver(agent, 'again')
  const { version } = store
  assert.deepEqual(await listManifest(agent), await listManifest(agent))
  assert.equal(store.version, version)
})

test('[MAN-7] says the names for the CSR where the CA takes them from there, unless one is an address', async () => {
  const named = createListManifest(store, NO_POLLS, async () => true, { hasNames: true })
  const sansOf = async (name: string, sans: readonly string[]): Promise<unknown> => {
    const agent = await insertAgent(store, name)
    const { id } = await deliver(agent, `site-${name}`, { sans })
    assert.ok(!('sans' in ((await listManifest(agent)).entregas[0] ?? {})))
    const { entregas } = await named(agent)
    assert.equal(entregas[0]?.id, id)
    return entregas[0]?.sans
  }
  assert.deepEqual(await sansOf('n-1', []), ['n-1'])
  const sans = ['shop.example', 'n-2', '*.shop.example']
  assert.deepEqual(await sansOf('n-2', sans), ['n-2', 'shop.example', '*.shop.example'])
  assert.equal(await sansOf('n-3', ['shop.example', '10.1.2.3']), undefined)
})
