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
      'Rounds. `completed`: got a manifest; `network`: got no answer; `server_error`: got an answer of 500 or above.',
  },
  svc_agent_round_duration_seconds: {
    type: 'histogram',
    unit: 'seconds',
    labels: {},
    meaning: 'How long a round took, without the hooks that run beside it.',
    buckets: [0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30, 60],
  },
  svc_agent_last_success_timestamp_seconds: {
    type: 'gauge',
    unit: 'seconds since 1970',
    labels: {},
    meaning: 'When the last completed round ended; absent until a round completed since the start.',
  },
  svc_agent_certificate_not_after_timestamp_seconds: {
    type: 'gauge',
    unit: 'seconds since 1970',
    labels: { purpose: PURPOSES, nome: ARTEFACT },
    meaning: 'When each certificate ends that is on the disk and that the agent renews.',
  },
  svc_agent_survival_seconds: {
    type: 'gauge',
    unit: 'seconds',
    labels: {},
    meaning:
      'For how long the hub may stay away before this host loses its first certificate; absent when the host has no certificate.',
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
    meaning: 'Hooks that failed, or that the agent refused.',
  },
  svc_agent_hooks_failing: {
    type: 'gauge',
    unit: 'deliveries',
    labels: {},
    meaning: 'Deliveries whose hook has not succeeded for the installed version.',
  },
  svc_agent_targets: {
    type: 'gauge',
    unit: 'targets',
    labels: { result: TARGET_RESULTS },
    meaning:
      'Targets that the agent applies itself, by the result of the last pass; without the targets that root applies.',
  },
  svc_agent_roots_refused: {
    type: 'gauge',
    unit: '',
    labels: {},
    meaning:
      '1 while the hub offers a set of roots that the agent does not adopt, such as one that the trust key did not sign; else 0.',
  },
  svc_agent_clock_skew_seconds: {
    type: 'gauge',
    unit: 'seconds',
    labels: {},
    meaning:
      'How far the hub’s clock is ahead of this host’s; absent until the hub has sent its time.',
  },
  svc_agent_log_alarms: {
    type: 'gauge',
    unit: 'alarms',
    labels: {},
    meaning:
      'How often the hub’s audit log was not what the agent had seen of it; `svc-agent audit` says why.',
  },
  svc_agent_hub_replaced: {
    type: 'gauge',
    unit: '',
    labels: {},
    meaning:
      '1 while the last hub that answered is one that was replaced, from which the agent takes nothing; else 0.',
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
