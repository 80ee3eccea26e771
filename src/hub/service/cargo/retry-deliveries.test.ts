import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { insertAgent, LATER } from '../../../../test/store/store-samples.ts'
import { openTemporaryStore } from '../../../../test/support/temporary-store.ts'
import { lastSeq, readActs } from '../../../../test/support/recorded-acts.ts'
import { openAdmin } from '../../../../test/support/told-admin.ts'
import type { DeliveryId } from '../../../protocol/identifiers.ts'
import type { Store } from '../../store/store.ts'

const HOSTS = ['web-1', 'web-2', 'web-3']

async function failAll(store: Store) {
  const { admin, told } = openAdmin(store)
  for (const name of HOSTS) await insertAgent(store, name)
  const create = { tipo: 'csr_cert', nome: 'site', agentes: HOSTS, roles: [], sans: [] }
  const { entregas } = await admin.createCargo(create)
  for (const { id, hostname } of entregas) {
    const error = hostname === 'web-3' ? 'disk full' : 'csr_cn_mismatch\nwhat a command printed'
    await store.write((writer) =>
      writer.setDeliveryStatus(id as DeliveryId, 'falhou', LATER, error),
    )
  }
  told.length = 0
  return { admin, told, ids: entregas.map(({ id }) => id) }
}

describe('[API-124] failed entregas are tried again', () => {
  test('those that are named, in one commit', async () => {
    await using store = await openTemporaryStore()
    const { admin, told, ids } = await failAll(store)
    const seq = await lastSeq(store.reader)
    const [first = '', second = ''] = ids
    const { entregas } = await admin.retryDeliveries({ entregas: [first, second, first] })
    assert.deepEqual(
      entregas.map(({ hostname, status }) => `${hostname} ${status}`),
      ['web-1 pendente', 'web-2 pendente'],
    )
    assert.equal((await readActs(store.reader, seq)).length, 2)
    assert.equal(told.length, 2)
  })

  test('all of those that are named, or none', async () => {
    await using store = await openTemporaryStore()
    const { admin, told, ids } = await failAll(store)
    const seq = await lastSeq(store.reader)
    const asked = admin.retryDeliveries({ entregas: [...ids, 'never-was/site'] })
    await assert.rejects(asked, { code: 'delivery_not_found' })
    assert.deepEqual(await readActs(store.reader, seq), [])
    assert.deepEqual(told, [])
    await assert.rejects(admin.retryDeliveries({ entregas: ids, erro: 'disk full' }), {
      code: 'request_invalid',
    })
  })

  test('those that failed for one reason', async () => {
    await using store = await openTemporaryStore()
    const { admin } = await failAll(store)
    const { entregas } = await admin.retryDeliveries({ erro: 'csr_cn_mismatch' })
    assert.deepEqual(entregas.map(({ hostname }) => hostname).toSorted(), ['web-1', 'web-2'])
    const failed = await admin.findDeliveries({ status: ['falhou'] })
    assert.deepEqual(
      failed.entregas.map(({ hostname }) => hostname),
      ['web-3'],
    )
    assert.equal(failed.total, 1)
  })
})
