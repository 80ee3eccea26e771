// What the store knows of the fleet, as metrics. The hub asks the store at most every few seconds, however often a client scrapes.

import type { Clock } from '../../platform/clock.ts'
import type { MetricSet } from '../../platform/metric-set.ts'
import { LIVE_STATUSES } from '../domain/delivery.ts'
import {
  ENDING_WITHIN,
  type CertificateInUse,
  type EndingWithin,
  type FleetSummary,
} from '../domain/fleet.ts'
import type { DoubledAgent } from '../domain/agent-sighting.ts'
import type { RevertedDelivery } from '../domain/reverted-target.ts'
import type { StoreReader } from '../store/store.ts'
import type { HubMetrics } from './hub-metrics.ts'
import { collectJoins } from './collect-joins.ts'
import { collectRollouts } from './collect-rollouts.ts'

export interface FleetCollector {
  collect(): Promise<void>
}

export interface FleetCollectorOptions {
  readonly set: MetricSet<HubMetrics>
  readonly reader: StoreReader
  readonly clock: Clock
  readonly thresholdMs: number
  /** So many certificates have a series of their own. */
  readonly certificatesMax: number
  /** Agents whose identity is used from two places. */
  readonly listDoubled?: (() => readonly DoubledAgent[]) | undefined
}

const REFRESH_MS = 5000
const LATE_MAX = 100

export function createFleetCollector(options: FleetCollectorOptions): FleetCollector {
  const { set, reader, clock, thresholdMs, certificatesMax } = options
  let collectedAtMs = Number.NEGATIVE_INFINITY
  return {
    collect: async () => {
      const now = clock.now()
      // A clock that was put back must not keep old figures alive.
      if (Math.abs(now.getTime() - collectedAtMs) < REFRESH_MS) return
      const summary = await reader.summariseFleet({ now, thresholdMs })
      const late = await reader.listLateCertificates({ now, thresholdMs, limit: LATE_MAX })
      const first = await reader.listFirstToEnd(now, certificatesMax)
      const reverted = await reader.listRevertedDeliveries(LATE_MAX)
      exportSummary(set, summary, now)
      set.replace('svc_delivery_reverted_timestamp_seconds', revertedSeriesOf(reverted))
      const doubled = options.listDoubled?.() ?? []
      set.replace('svc_agents_duplicated', [{ labels: {}, value: doubled.length }])
      set.replace(
        'svc_agent_duplicated_timestamp_seconds',
        doubled.slice(0, LATE_MAX).map(({ hostname, since }) => ({
          labels: { hostname },
          value: since.getTime() / 1000,
        })),
      )
      set.replace('svc_certificate_late_not_after_timestamp_seconds', late.map(seriesOf))
      await collectRollouts(set, reader, now)
      await collectJoins(set, reader, now)
      set.replace('svc_certificate_not_after_timestamp_seconds', first.map(seriesOf))
      collectedAtMs = now.getTime()
    },
  }
}

function exportSummary(set: MetricSet<HubMetrics>, fleet: FleetSummary, now: Date): void {
  const { agents, certificates, deliveries, oldestWaitingSince } = fleet
  const purposes = ['identity', 'delivery'] as const
  set.replace('svc_agents', [
    { labels: { state: 'registered' }, value: agents.registered },
    { labels: { state: 'atrasado' }, value: agents.late },
    { labels: { state: 'revoked' }, value: agents.revoked },
  ])
  set.replace(
    'svc_certificates',
    purposes.flatMap((purpose) => [
      { labels: { purpose, state: 'valid' }, value: certificates[purpose].valid },
      { labels: { purpose, state: 'atrasado' }, value: certificates[purpose].late },
      { labels: { purpose, state: 'expired' }, value: certificates[purpose].expired },
    ]),
  )
  const firstEnds = purposes.flatMap((purpose) => {
    const { firstNotAfter } = certificates[purpose]
    return firstNotAfter === undefined ? [] : [{ purpose, firstNotAfter }]
  })
  set.replace(
    'svc_certificates_first_not_after_timestamp_seconds',
    firstEnds.map(({ purpose, firstNotAfter }) => ({
      labels: { purpose },
      value: firstNotAfter.getTime() / 1000,
    })),
  )
  const endMs = Math.min(...firstEnds.map(({ firstNotAfter }) => firstNotAfter.getTime()))
  const survival = Number.isFinite(endMs) ? [(endMs - now.getTime()) / 1000] : []
  set.replace(
    'svc_survival_seconds',
    survival.map((value) => ({ labels: {}, value })),
  )
  set.replace(
    'svc_certificates_ending',
    purposes.flatMap((purpose) =>
      Object.keys(ENDING_WITHIN).map((within) => ({
        labels: { purpose, within },
        // It has the keys of the table.
        value: certificates[purpose].endingWithin[within as EndingWithin],
      })),
    ),
  )
  set.replace(
    'svc_deliveries',
    LIVE_STATUSES.map((status) => ({ labels: { status }, value: deliveries[status] })),
  )
  set.replace('svc_deliveries_reverted', [{ labels: {}, value: fleet.reverted }])
  const waitedMs = now.getTime() - (oldestWaitingSince?.getTime() ?? now.getTime())
  set.replace('svc_delivery_oldest_waiting_seconds', [
    { labels: {}, value: Math.max(0, waitedMs / 1000) },
  ])
}

/** One for each delivery, as old as what was put back first. */
function revertedSeriesOf(reverted: readonly RevertedDelivery[]) {
  const first = new Map<string, RevertedDelivery>()
  for (const delivery of reverted) {
    const key = `${delivery.hostname} ${delivery.name}`
    if (!first.has(key)) first.set(key, delivery)
  }
  return [...first.values()].map(({ hostname, name, since }) => ({
    labels: { hostname, nome: name },
    value: since.getTime() / 1000,
  }))
}

function seriesOf({ hostname, purpose, name, notAfter }: CertificateInUse) {
  return { labels: { hostname, purpose, nome: name ?? '' }, value: notAfter.getTime() / 1000 }
}
