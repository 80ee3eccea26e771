import assert from 'node:assert/strict'
import { test } from 'node:test'
import { openTemporaryStore } from '../../../../test/support/temporary-store.ts'
import { insertAgent, NOW } from '../../../../test/store/store-samples.ts'
import type { Store } from '../../store/store.ts'
import { createAdminOperations } from './admin-operations.ts'

const CLOCK = { now: () => NOW, sleep: () => Promise.resolve() }
const ADDRESSES = { enrollUrl: 'https://hub.test:8444', mtlsUrl: 'https://hub.test:8443' }

function dependenciesOver(store: Store) {
  return {
    store,
    clock: CLOCK,
    addresses: ADDRESSES,
    hubNames: ['hub.test'],
    contentBytesMax: 1024,
    renewalThresholdMs: 0,
  }
}

test('[API-2] every act is recorded under the name of whoever asked for it', async () => {
  await using store = await openTemporaryStore()
  const operations = createAdminOperations(dependenciesOver(store), 'token:ci', 'admin')
  await insertAgent(store, 'web-1')

  const token = await operations.createToken({ hostname: 'web-2', role: 'web' })
  await operations.revokeToken({ token: token.id })
  const create = { tipo: 'csr_cert', nome: 'site', agentes: ['web-1'], roles: [], sans: [] }
  const { carga_id: carga, entregas } = await operations.createCargo(create)
  await operations.updateCargo({ carga })
  const [standing] = (await operations.listDeliveries({})).entregas.slice(-1)
  await operations.retryDeliveries({ entrega: standing?.id ?? '' })
  assert.equal(entregas.length, 1)
  await operations.removeCargo({ carga })
  await operations.revokeAgent({ agente: 'web-1' })
  await operations.removeAgent({ agente: 'web-1' })

  const { eventos } = await operations.listEntries({})
  assert.deepEqual(
    eventos.map(({ tipo_evento, payload }) => [tipo_evento, payload['actor']]),
    [
      'token_created',
      'token_revoked',
      'carga_created',
      'carga_updated',
      'entrega_retried',
      'entrega_cancelled',
      'carga_removed',
      'agent_revoked',
      'agent_removed',
    ].map((type) => [type, 'token:ci']),
  )
})

test('[CLI-6] removing an agent again changes nothing for the host that has its name by now', async () => {
  await using store = await openTemporaryStore()
  const operations = createAdminOperations(dependenciesOver(store), 'token:ci', 'admin')
  const { id: agente } = await insertAgent(store, 'web-1')
  await operations.revokeAgent({ agente })
  const removed = await operations.removeAgent({ agente })
  await operations.createToken({ hostname: 'web-1', role: 'web' })
  const { eventos } = await operations.listEntries({})
  assert.deepEqual(await operations.removeAgent({ agente }), removed)
  assert.equal((await store.reader.findOpenTokens('web-1', NOW)).length, 1)
  assert.deepEqual((await operations.listEntries({})).eventos, eventos)
})

for (const since of ['1', '2026-11-21', '2026-11-21 10:00:00Z', '24h', 'yesterday']) {
  test(`[API-26] entries are not listed since ${since}`, async () => {
    await using store = await openTemporaryStore()
    const operations = createAdminOperations(dependenciesOver(store), 'token:ci', 'admin')
    await assert.rejects(operations.listEntries({ since }), {
      code: 'time_invalid',
      message: `${since} is not a time`,
    })
  })
}
