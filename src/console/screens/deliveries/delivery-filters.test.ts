import assert from 'node:assert/strict'
import { test } from 'node:test'
import { svc } from '../../commands/svc.ts'
import { listSorts, readFilters } from './delivery-filters.ts'

test('the URL gives the filters that the hub knows, and no other', () => {
  assert.deepEqual(
    readFilters({ status: 'falhou', q: 'web', late: '1', sort: 'host', open: 'x', role: 'web' }),
    { status: ['falhou'], q: 'web', late: true, sort: 'host', role: 'web' },
  )
  assert.deepEqual(readFilters({ status: 'nothing', late: 'yes', carga: '' }), {})
})

test('an order without an index is left out, since the hub would refuse it', () => {
  assert.deepEqual(readFilters({ sort: 'updated' }), {})
  assert.deepEqual(readFilters({ sort: 'updated', status: 'falhou' }), {
    status: ['falhou'],
    sort: 'updated',
  })
  assert.deepEqual(readFilters({ sort: 'updated', status: 'falhou', role: 'web' }), {
    status: ['falhou'],
    role: 'web',
  })
  assert.deepEqual(listSorts({ carga: 'site' }), ['created'])
  assert.deepEqual(listSorts({ agente: 'web-1' }), ['host'])
})

test('the same as a command, without what svc does not take', () => {
  assert.equal(
    svc.listDeliveries({ status: ['falhou'], q: 'web', where: 'env=prod', late: true }),
    `svc entrega list --status falhou --where 'env=prod' --late`,
  )
})
