// Every metric of the agent, as hub-metrics.ts is of the hub.

import type { MetricTable } from '../../platform/metric-set.ts'

const PURPOSES = ['identity', 'delivery'] as const
const ARTEFACT = 'names of deliveries; empty for the identity'
export const ROUND_OUTCOMES = ['completed', 'network', 'server_error', 'other'] as const
export const TARGET_RESULTS = [
  'applied',
  'up_to_date',
  'reverted',
  'held_back',
  'waiting',
  'stuck',
] as const

export const AGENT_METRICS = {
  svc_agent_build_info: {
    type: 'gauge',
    unit: '',
    labels: { version: 'of the agent', hostname: 'of the identity' },
    meaning: 'Always 1; version and hostname are in the labels.',
  },
  svc_agent_ready: {
    type: 'gauge',
    unit: '',
    labels: { subsystem: ['identity', 'hub', 'deliveries'] },
    meaning: '1 when /readyz calls the subsystem ready, else 0.',
  },
  svc_agent_rounds_total: {
    type: 'counter',
    unit: 'rounds',
    labels: { outcome: ROUND_OUTCOMES },
    meaning:
      'Rounds; `completed` got a manifest, `network` no answer, `server_error` one of 500 or above.',
  },
  svc_agent_round_duration_seconds: {
    type: 'histogram',
    unit: 'seconds',
    labels: {},
    meaning: 'A round, without the hooks that run beside it.',
    buckets: [0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30, 60],
  },
  svc_agent_last_success_timestamp_seconds: {
    type: 'gauge',
    unit: 'seconds since 1970',
    labels: {},
    meaning: 'The end of the last round that completed; absent before the first since the start.',
  },
  svc_agent_certificate_not_after_timestamp_seconds: {
    type: 'gauge',
    unit: 'seconds since 1970',
    labels: { purpose: PURPOSES, nome: ARTEFACT },
    meaning: 'The end of each certificate that is on the disk and renewed.',
  },
  svc_agent_survival_seconds: {
    type: 'gauge',
    unit: 'seconds',
    labels: {},
    meaning:
      'For how long the hub may stay away before this host loses its first certificate; absent without one.',
  },
  svc_agent_outbox_events: {
    type: 'gauge',
    unit: 'events',
    labels: {},
    meaning: 'Events that wait for the hub.',
  },
  svc_agent_hook_failures_total: {
    type: 'counter',
    unit: 'hooks',
    labels: {},
    meaning: 'Hooks that failed or were refused.',
  },
  svc_agent_hooks_failing: {
    type: 'gauge',
    unit: 'deliveries',
    labels: {},
    meaning: 'Deliveries whose hook has not succeeded for the version that is installed.',
  },
  svc_agent_targets: {
    type: 'gauge',
    unit: 'targets',
    labels: { result: TARGET_RESULTS },
    meaning:
      'Targets that the agent applies itself, by the result of the last pass; root’s are not among them.',
  },
  svc_agent_clock_skew_seconds: {
    type: 'gauge',
    unit: 'seconds',
    labels: {},
    meaning: 'How far the hub’s clock is ahead of this host’s; absent until the hub has said.',
  },
  svc_agent_update: {
    type: 'gauge',
    unit: '',
    labels: { state: ['pending', 'failed'] },
    meaning:
      '`pending`: a new version has to prove itself; `failed`: one was taken back and is kept.',
  },
  process_resident_memory_bytes: {
    type: 'gauge',
    unit: 'bytes',
    labels: {},
    meaning: 'Memory of the process.',
  },
} as const satisfies MetricTable
export type AgentMetrics = typeof AGENT_METRICS
