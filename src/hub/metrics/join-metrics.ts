// docs/protocol.md MET-35, MET-36.

import type { MetricTable } from '../../platform/metric-set.ts'
import { JOIN_REFUSALS } from '../domain/join-rule.ts'

export const JOIN_METRICS = {
  svc_join_rule_hosts: {
    type: 'gauge',
    unit: 'hosts',
    labels: { join_rule: 'names' },
    meaning: 'That have joined by a rule that is in force; the 100 rules that end first.',
  },
  svc_join_rule_places: {
    type: 'gauge',
    unit: 'hosts',
    labels: { join_rule: 'names' },
    meaning: 'How many more may join by the rule.',
  },
  svc_join_rule_not_after_timestamp_seconds: {
    type: 'gauge',
    unit: 'seconds since 1970',
    labels: { join_rule: 'names' },
    meaning: 'When the rule ends.',
  },
  svc_joins_refused_total: {
    type: 'counter',
    unit: 'requests',
    labels: { reason: Object.keys(JOIN_REFUSALS) },
    meaning: 'Requests that a join rule was refused for, by the reasons of JNR-9 and JNR-22.',
  },
  svc_silent_hosts_revoked_total: {
    type: 'counter',
    unit: 'hosts',
    labels: {},
    meaning: 'That joined by a rule and were revoked for their silence (`--revoke-after`).',
  },
} as const satisfies MetricTable
