import assert from 'node:assert/strict'
import { after, before, describe, test } from 'node:test'
import { DeliveryStatus } from '../../../protocol/words.ts'
import type { Agent } from '../../domain/agent.ts'
import type { Cargo } from '../../domain/cargo.ts'
import {
  insertAgent,
  insertDelivery,
  LATER,
  newCargo,
  newContent,
} from '../../../../test/store/store-samples.ts'
import { openTemporaryStore } from '../../../../test/support/temporary-store.ts'
import type { Store } from '../../store/store.ts'
import { createFindBlob } from './find-blob.ts'

describe('a blob', () => {
  let store: Store & AsyncDisposable
  before(async () => {
    store = await openTemporaryStore()
  })
  after(() => store[Symbol.asyncDispose]())

  async function insertSealed(name: string): Promise<Cargo> {
    const cargo = { ...newCargo(name), kind: 'selado' } as const
    await store.write(async (writer) => {
      await writer.insertCargo(cargo)
      await writer.setContent(cargo.id, newContent(1000))
    })
    return cargo
  }

  const statuses: Readonly<Record<DeliveryStatus, boolean>> = {
    pendente: true,
    em_andamento: true,
    instalada: true,
    entregue: true,
    falhou: true,
    cancelada: false,
    substituida: false,
  }
  for (const [status, isFound] of Object.entries(statuses) as [DeliveryStatus, boolean][]) {
    test(`[BLB-6] is ${isFound ? 'there' : 'not there'} for an entrega that is ${status}`, async () => {
      const agent: Agent = await insertAgent(store, `host-${status}`)
      const cargo = await insertSealed(`file-${status}`)
      const { id } = await insertDelivery(store, agent.id, cargo)
      await store.write((writer) => writer.setDeliveryStatus(id, status, LATER, null))
      const blob = await createFindBlob(store)(agent, cargo.id)
      assert.equal(blob !== undefined, isFound)
    })
  }

  test('[BLB-5] is read once for all who fetch it at a time, and anew after each change', async () => {
    const agent = await insertAgent(store, 'web-1')
    const cargo = await insertSealed('shared')
    await insertDelivery(store, agent.id, cargo)
    const findBlob = createFindBlob(store)
    const [first, second] = [await findBlob(agent, cargo.id), await findBlob(agent, cargo.id)]
    const bytes = (await first?.read())?.bytes
    assert.ok(bytes)
    assert.equal((await second?.read())?.bytes, bytes)
    const next = newContent(2000)
    await store.write((writer) => writer.setContent(cargo.id, next))
    const third = await findBlob(agent, cargo.id)
    assert.deepEqual(third?.summary, { sha256: next.sha256, byteCount: 2000 })
    assert.deepEqual(Buffer.from((await third.read())?.bytes ?? []), next.bytes)
    await store.write((writer) => writer.removeContent(cargo.id))
    assert.equal(await findBlob(agent, cargo.id), undefined)
  })

  test('[BLB-5] that changes between its summary and its reading comes whole, with its own digest', async () => {
    const agent = await insertAgent(store, 'web-2')
    const cargo = await insertSealed('raced')
    await insertDelivery(store, agent.id, cargo)
    const blob = await createFindBlob(store)(agent, cargo.id)
    const next = newContent(3000)
    await store.write((writer) => writer.setContent(cargo.id, next))
    const found = await blob?.read()
    assert.equal(found?.sha256, next.sha256)
    assert.deepEqual(Buffer.from(found.bytes), next.bytes)
    await store.write((writer) => writer.removeContent(cargo.id))
    const gone = await createFindBlob(store)(agent, cargo.id)
    assert.equal(gone, undefined)
  })
})
