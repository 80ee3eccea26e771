// docs/protocol.md MET-35.

import type { MetricSet } from '../../platform/metric-set.ts'
import type { JoinRule } from '../domain/join-rule.ts'
import type { StoreReader } from '../store/store.ts'
import type { HubMetrics } from './hub-metrics.ts'

const RULES_MAX = 100

export async function collectJoins(
  set: MetricSet<HubMetrics>,
  reader: Pick<StoreReader, 'listJoinRulesInForce'>,
  now: Date,
): Promise<void> {
  const rules = await reader.listJoinRulesInForce(now, RULES_MAX)
  const seriesOf = (measure: (rule: JoinRule) => number) =>
    rules.map((rule) => ({ labels: { join_rule: rule.name }, value: measure(rule) }))
  set.replace(
    'svc_join_rule_hosts',
    seriesOf(({ hosts }) => hosts),
  )
  set.replace(
    'svc_join_rule_places',
    seriesOf(({ hosts, hostsMax }) => Math.max(0, hostsMax - hosts)),
  )
  set.replace(
    'svc_join_rule_not_after_timestamp_seconds',
    seriesOf(({ expiresAt }) => expiresAt.getTime() / 1000),
  )
}
