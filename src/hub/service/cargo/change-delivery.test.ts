import assert from 'node:assert/strict'
import { after, before, beforeEach, describe, test } from 'node:test'
import {
  insertAgent,
  insertCargo,
  insertDelivery,
  LATER,
  NOW,
} from '../../../../test/store/store-samples.ts'
import { type ToldAdmin, openAdmin } from '../../../../test/support/told-admin.ts'
import { lastSeq, readActs } from '../../../../test/support/recorded-acts.ts'
import { openTemporaryStore } from '../../../../test/support/temporary-store.ts'
import type { DeliveryId } from '../../../protocol/identifiers.ts'
import type { DeliveryStatus } from '../../../protocol/words.ts'
import type { Agent } from '../../domain/agent.ts'
import type { Cargo } from '../../domain/cargo.ts'
import type { Delivery } from '../../domain/delivery.ts'
import type { Store } from '../../store/store.ts'

const UNKNOWN = '00000000-0000-4000-8000-000000000000'

let store: Store & AsyncDisposable
let hub: ToldAdmin
let agent: Agent
let cargo: Cargo
let delivery: Delivery
let seq: number
let count = 0

before(async () => {
  store = await openTemporaryStore()
})
after(() => store[Symbol.asyncDispose]())
beforeEach(async () => {
  count += 1
  hub = openAdmin(store)
  agent = await insertAgent(store, `web-${count}`)
  cargo = await insertCargo(store, `site-${count}`)
  delivery = await insertDelivery(store, agent.id, cargo)
  seq = await lastSeq(store.reader)
})

const setStatus = (status: DeliveryStatus, { id } = delivery): Promise<void> =>
  store.write((writer) =>
    writer.setDeliveryStatus(id, status, LATER, status === 'falhou' ? 'why' : null),
  )

async function statusOf(id: string): Promise<string | undefined> {
  return (await store.reader.findDelivery(id as DeliveryId))?.status
}

describe('svc entrega cancel', () => {
  const cancel = (entrega: string = delivery.id) => hub.admin.cancelDelivery({ entrega })

  test('[DEL-9] [PSH-6] cancels an entrega that is live, records it, and tells its agent', async () => {
    for (const status of ['pendente', 'em_andamento', 'falhou', 'instalada', 'entregue'] as const) {
      delivery = await insertDelivery(store, agent.id, cargo)
      await setStatus(status)
      const { id, hostname, nome, ...reply } = await cancel()
      assert.deepEqual(
        [id, hostname, nome, reply.status],
        [delivery.id, agent.hostname, cargo.name, 'cancelada'],
      )
    }
    const cancelled = ['entrega_cancelled', { actor: 'admin', carga_id: cargo.id }]
    assert.deepEqual(
      await readActs(store.reader, seq),
      Array.from({ length: 5 }, () => cancelled),
    )
    assert.deepEqual(hub.told, Array(5).fill(`agent ${agent.id}`))
    const [entry] = await store.reader.listLastEntries({}, 1)
    assert.equal(entry?.deliveryId, delivery.id)
  })

  test('[DEL-16] cancels with it what it was to replace', async () => {
    await setStatus('instalada')
    const { entregas } = await hub.admin.retryDeliveries({ entrega: delivery.id })
    await cancel(entregas[0]?.id)
    assert.deepEqual(await statusOf(delivery.id), 'cancelada')
  })

  test('[DEL-11] is refused for one that is over, replaced or unknown', async () => {
    await cancel()
    await assert.rejects(cancel(), {
      code: 'delivery_over',
      message: `delivery ${delivery.id} is cancelled already`,
    })
    const old = await insertDelivery(store, agent.id, cargo)
    await setStatus('instalada', old)
    const [next] = (await hub.admin.retryDeliveries({ entrega: old.id })).entregas
    await assert.rejects(cancel(old.id), {
      code: 'delivery_over',
      message: `delivery ${old.id} is replaced by ${next?.id} already`,
    })
    await assert.rejects(cancel(UNKNOWN), {
      code: 'delivery_not_found',
      message: `no delivery ${UNKNOWN}`,
    })
  })

  test('[DEL-9] twice at once is one cancellation', async () => {
    const both = await Promise.allSettled([cancel(), cancel()])
    assert.deepEqual(
      both.map(({ status }) => status),
      ['fulfilled', 'rejected'],
    )
    assert.equal((await readActs(store.reader, seq)).length, 1)
  })
})

describe('svc entrega retry', () => {
  const retry = async (entrega?: string) =>
    (await hub.admin.retryDeliveries(entrega === undefined ? {} : { entrega })).entregas

  test('[DEL-4] [DEL-16] [PSH-6] makes a new entrega of the version of the carga by now, and tells its agent', async () => {
    await setStatus('falhou')
    await store.write((writer) => writer.updateCargo({ ...cargo, version: 3 }))
    const [fresh, ...others] = await retry(delivery.id)
    assert.equal(others.length, 0)
    assert.notEqual(fresh?.id, delivery.id)
    assert.deepEqual([fresh?.status, fresh?.versao, fresh?.erro], ['pendente', 3, null])
    assert.equal(await statusOf(delivery.id), 'substituida')
    const payload = { actor: 'admin', entrega_anterior: delivery.id, carga_id: cargo.id }
    assert.deepEqual(await readActs(store.reader, seq), [['entrega_retried', payload]])
    const [entry] = await store.reader.listLastEntries({}, 1)
    assert.equal(entry?.deliveryId, fresh?.id)
    assert.deepEqual(hub.told, [`agent ${agent.id}`])
  })

  test('[DEL-16] leaves what is installed to be renewed until its successor is', async () => {
    await setStatus('instalada')
    await retry(delivery.id)
    assert.equal(await statusOf(delivery.id), 'instalada')
  })

  test('does nothing for a carga that was removed', async () => {
    await setStatus('falhou')
    await store.write((writer) => writer.updateCargo({ ...cargo, removedAt: NOW }))
    assert.deepEqual([await retry(delivery.id), await readActs(store.reader, seq)], [[], []])
    assert.equal(await statusOf(delivery.id), 'falhou')
  })

  test('[FLT-6] of all takes those that failed, each once, and no others', async () => {
    await retry()
    const failed = [
      delivery,
      await insertDelivery(store, agent.id, await insertCargo(store, `b-${count}`)),
    ]
    const gone = await insertCargo(store, `gone-${count}`)
    const removed = await insertDelivery(store, agent.id, gone)
    await insertDelivery(store, agent.id, await insertCargo(store, `fine-${count}`))
    for (const one of [...failed, removed]) await setStatus('falhou', one)
    await store.write((writer) => writer.updateCargo({ ...gone, removedAt: NOW }))
    seq = await lastSeq(store.reader)
    const made = await retry()
    assert.deepEqual(
      new Set(made.map(({ nome, status }) => `${nome} ${status}`)),
      new Set([`site-${count} pendente`, `b-${count} pendente`]),
    )
    assert.equal(made.length, 2)
    assert.equal((await readActs(store.reader, seq)).length, 2)
    assert.deepEqual(await retry(), [])
  })

  test('[FLT-4] of all twice at once takes each once', async () => {
    await retry()
    await setStatus('falhou')
    const [one, other] = await Promise.all([retry(), retry()])
    assert.equal(one.length + other.length, 1)
    await setStatus('falhou', { ...delivery, id: [...one, ...other][0]?.id as DeliveryId })
    const [alone, all] = await Promise.all([retry([...one, ...other][0]?.id), retry()])
    assert.deepEqual([alone.length, all.length], [1, 0], 'also beside one by itself')
  })

  test('[DEL-11] is refused for one that is over or unknown', async () => {
    await setStatus('cancelada')
    await assert.rejects(retry(delivery.id), { code: 'delivery_over' })
    await assert.rejects(retry(UNKNOWN), { code: 'delivery_not_found' })
  })
})
