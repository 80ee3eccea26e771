import assert from 'node:assert/strict'
import { test } from 'node:test'
import { parseSamples } from '../../../test/support/scrape.ts'
import type { Clock } from '../../platform/clock.ts'
import { createMetricSet } from '../../platform/metric-set.ts'
import type { AgentId, ArtefactName, Hostname } from '../../protocol/identifiers.ts'
import type { CertificateInUse, FleetSummary } from '../domain/fleet.ts'
import type { StoreReader } from '../store/store.ts'
import { createFleetCollector } from './collect-fleet.ts'
import { HUB_METRICS } from './hub-metrics.ts'

const START = Date.parse('2026-11-21T10:00:00Z')
const NOTHING = {
  valid: 0,
  late: 0,
  expired: 0,
  firstNotAfter: undefined,
  endingWithin: { '1h': 0, '6h': 0, '24h': 0, '7d': 0 },
}

test('[MET-7] [MET-8] [MET-20] [MET-21] [MET-34] [MET-35] the store is asked once in five seconds, for as many certificates as are wanted', async () => {
  let nowMs = START
  const asked: string[] = []
  const summary: FleetSummary = {
    agents: { registered: 1, late: 1, revoked: 0 },
    certificates: { identity: NOTHING, delivery: NOTHING },
    deliveries: { pendente: 1, em_andamento: 0, instalada: 0, entregue: 0, falhou: 0 },
    reverted: 3,
    oldestWaitingSince: new Date(START - 90_000),
  }
  const certificate: CertificateInUse = {
    agentId: 'a' as AgentId,
    hostname: 'web-1' as Hostname,
    purpose: 'identity',
    deliveryId: null,
    name: null,
    notBefore: new Date(START),
    notAfter: new Date(START + 1000),
  }
  const rollout = { state: 'frozen', subject: { kind: 'load', cargoId: 'c' } }
  const reader = {
    rollouts: {
      listOpen: async () => [rollout, { ...rollout, state: 'running' }],
      findFreeze: async () => ({ until: new Date(START + 60_000), endedAt: null }),
    },
    findCargo: async () => ({ name: 'site' }),
    listJoinRulesInForce: async (_now: Date, limit: number) => {
      asked.push(`rules ${limit}`)
      const expiresAt = new Date(START + 3000)
      return [{ name: 'web-images', hosts: 3, hostsMax: 5, expiresAt }]
    },
    summariseFleet: async () => {
      asked.push('summary')
      return summary
    },
    listLateCertificates: async ({ limit }: { limit: number }) => {
      asked.push(`late ${limit}`)
      return [certificate]
    },
    listRevertedDeliveries: async (limit: number) => {
      asked.push(`reverted ${limit}`)
      const name = 'site' as ArtefactName
      const hostname = 'web-2' as Hostname
      return [1000, 2000].map((ms) => ({ hostname, name, since: new Date(START + ms) }))
    },
    listFirstToEnd: async (_now: Date, limit: number) => {
      asked.push(`first ${limit}`)
      return []
    },
  }
  const set = createMetricSet(HUB_METRICS)
  const collector = createFleetCollector({
    set,
    // What it asks is all there.
    reader: reader as unknown as StoreReader,
    clock: { now: () => new Date(nowMs) } as Clock,
    thresholdMs: 1,
    certificatesMax: 7,
    listDoubled: () => [
      {
        agentId: 'a' as AgentId,
        hostname: 'web-3' as Hostname,
        since: new Date(START),
        lastAt: new Date(START),
        addresses: [],
      },
    ],
  })
  const once = ['summary', 'late 100', 'first 7', 'reverted 100', 'rules 100']
  await collector.collect()
  nowMs += 4999
  await collector.collect()
  assert.deepEqual(asked, once)
  nowMs += 1
  await collector.collect()
  assert.deepEqual(asked, [...once, ...once])
  nowMs -= 60_000
  await collector.collect()
  assert.equal(asked.length, 15)

  const samples = parseSamples((await set.render()).text)
  const valuesOf = (name: string) => samples.filter((one) => one.name === name)
  assert.deepEqual(valuesOf('svc_survival_seconds'), [])
  assert.deepEqual(valuesOf('svc_certificate_late_not_after_timestamp_seconds'), [
    {
      name: 'svc_certificate_late_not_after_timestamp_seconds',
      labels: { hostname: 'web-1', purpose: 'identity', nome: '' },
      value: START / 1000 + 1,
    },
  ])
  assert.equal(valuesOf('svc_agents_duplicated')[0]?.value, 1)
  assert.deepEqual(valuesOf('svc_agent_duplicated_timestamp_seconds'), [
    {
      name: 'svc_agent_duplicated_timestamp_seconds',
      labels: { hostname: 'web-3' },
      value: START / 1000,
    },
  ])
  assert.equal(valuesOf('svc_deliveries_reverted')[0]?.value, 3)
  assert.deepEqual(valuesOf('svc_delivery_reverted_timestamp_seconds'), [
    {
      name: 'svc_delivery_reverted_timestamp_seconds',
      labels: { hostname: 'web-2', nome: 'site' },
      value: START / 1000 + 1,
    },
  ])
  assert.equal(valuesOf('svc_delivery_oldest_waiting_seconds')[0]?.value, 35)
  assert.deepEqual(
    valuesOf('svc_rollouts').map(({ labels, value }) => [labels['state'], value]),
    [
      ['running', 1],
      ['paused', 0],
      ['frozen', 1],
      ['undoing', 0],
    ],
  )
  assert.deepEqual(valuesOf('svc_rollout_frozen'), [
    { name: 'svc_rollout_frozen', labels: { nome: 'site' }, value: 1 },
  ])
  assert.equal(valuesOf('svc_freeze_until_timestamp_seconds')[0]?.value, START / 1000 + 60)
  const rule = [
    ['svc_join_rule_hosts', 3],
    ['svc_join_rule_places', 2],
    ['svc_join_rule_not_after_timestamp_seconds', START / 1000 + 3],
  ] as const
  for (const [name, value] of rule) {
    assert.deepEqual(valuesOf(name), [{ name, labels: { join_rule: 'web-images' }, value }])
  }
})
