// What triggers count of each carga, through what may become of an entrega.

import assert from 'node:assert/strict'
import { test } from 'node:test'
import {
  insertAgent,
  insertCargo,
  insertDelivery,
  NOW,
} from '../../../../test/store/store-samples.ts'
import { openTemporaryStore } from '../../../../test/support/temporary-store.ts'
import { newDeliveryLike } from '../../service/cargo/replace-delivery.ts'

test('[API-151] each host counts once, by the status of the entrega that it has or is to have', async () => {
  await using store = await openTemporaryStore()
  const first = await insertAgent(store, 'web-1')
  const second = await insertAgent(store, 'web-2')
  const site = await insertCargo(store, 'site')
  const other = await insertCargo(store, 'other')
  const one = await insertDelivery(store, first.id, site)
  const two = await insertDelivery(store, second.id, site)
  await insertDelivery(store, second.id, other)
  const counts = async (): Promise<Record<string, number>> => {
    const rows = await store.reader.countStatusesOfCargoes([site.id])
    return Object.fromEntries(rows.map(({ status, total }) => [status, total]))
  }
  assert.deepEqual(await counts(), { pendente: 2 })
  await store.write((writer) => writer.setDeliveryStatus(one.id, 'instalada', NOW, null))
  await store.write((writer) => writer.setDeliveryStatus(two.id, 'falhou', NOW, 'why'))
  assert.deepEqual(await counts(), { instalada: 1, falhou: 1 })
  const successor = newDeliveryLike({ ...one, cargo: site }, NOW)
  await store.write((writer) => writer.replaceDeliveries([{ old: one.id, successor }], NOW))
  assert.deepEqual(await counts(), { pendente: 1, falhou: 1 }, 'not twice while it is replaced')
  await store.write((writer) => writer.cancelDeliveries([two.id], NOW))
  assert.deepEqual(await counts(), { pendente: 1 })
})
