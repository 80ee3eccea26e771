import assert from 'node:assert/strict'
import { test } from 'node:test'
import {
  summaryWith,
  SURVIVAL,
  urgentHost,
} from '../../../../test/support/fleet-summary-samples.ts'
import { decideVerdict } from './decide-verdict.ts'

const well = summaryWith()

/** With these subsystems not ready. */
function broken(...names: string[]) {
  const hub = well.hub
  assert.ok(hub)
  const subsystems = hub.subsystems.map((one) => ({ ...one, ready: !names.includes(one.name) }))
  return { hub: { ...hub, ready: false, subsystems } }
}

const LATE = {
  agentes: { ...well.agentes, atrasado: 1 },
  atrasados: { total: 4, first: [urgentHost('db-2')] },
  expirados: {
    total: 1,
    first: [urgentHost('edge-17', { not_after: '2026-01-31T03:00:00.000Z' })],
  },
}

test('nothing is wrong', () => assert.deepEqual(decideVerdict(well), { kind: 'well' }))

test('the first day', () => {
  const agentes = { registered: 0, atrasado: 0, revoked: 3, connected: 0 }
  assert.deepEqual(decideVerdict(summaryWith({ agentes })), { kind: 'empty' })
})

test('late and expired hosts, and when the first certificate ends that still works', () => {
  const expected = { kind: 'late', late: 4, expired: 1, endsAt: '2026-01-31T12:47:00.000Z' }
  assert.deepEqual(decideVerdict(summaryWith(LATE)), expected)
  const onlyExpired = summaryWith({ ...LATE, atrasados: { total: 0, first: [] } })
  assert.deepEqual(decideVerdict(onlyExpired), { ...expected, late: 0, endsAt: undefined })
})

test('a hub that is not ready comes before all of it, then the CA, which takes the time of the hosts that renew', () => {
  const both = summaryWith({ ...LATE, ...broken('store', 'ca') })
  assert.deepEqual(decideVerdict(both), { kind: 'hub_not_ready', subsystems: ['store'] })
  const withoutCa = summaryWith({ ...LATE, ...broken('ca'), survival_on_time: SURVIVAL })
  const { not_after: endsAt } = SURVIVAL.first
  assert.deepEqual(decideVerdict(withoutCa), { kind: 'ca_not_ready', endsAt })
})

test('without a running hub the hosts are still told of', () => {
  assert.equal(decideVerdict(summaryWith({ ...LATE, hub: null })).kind, 'late')
})
