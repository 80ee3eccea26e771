// Every metric of the hub. docs/reference/metrics.md is written from this table, and the alerts and the dashboard of
// deploy/ are held against it. Labels hold no text from outside: what strangers send is counted, never named.

import { STANDBY_STATES } from '../../protocol/standby.ts'
import type { MetricTable } from '../../platform/metric-set.ts'
import { WIRE_ERRORS } from '../../protocol/errors.ts'
import { type PortName, ROUTES } from '../../protocol/routes.ts'
import { LIVE_STATUSES } from '../domain/delivery.ts'
import { JOIN_METRICS } from './join-metrics.ts'
import { ROLLOUT_METRICS } from './rollout-metrics.ts'
import { ENDING_WITHIN } from '../domain/fleet.ts'

const PORTS: readonly PortName[] = [
  ...new Set(Object.values(ROUTES).map(({ port }) => port)),
  'enroll_tls',
]
const PURPOSES = ['identity', 'delivery'] as const
export const CA_OUTCOMES = [
  'ok',
  'refused',
  'unreachable',
  'timeout',
  'overloaded',
  'wrong_certificate',
  'error',
] as const
export const EVENT_REFUSALS = ['bytes', 'disk'] as const
export const CHECKPOINT_PLACES = ['vault', 'outside'] as const
export type CheckpointPlace = (typeof CHECKPOINT_PLACES)[number]
export const SUBSYSTEMS = ['store', 'ca', 'certificate', 'audit'] as const
const FAST = [0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10]
const HOSTNAME = 'of agents, as their tokens named them'
const WEBHOOK_ID = 'ids of `svc webhook list`, at most 100'
const CARGO_NAME = 'of cargas; empty for an identity'

export const HUB_METRICS = {
  svc_build_info: {
    type: 'gauge',
    unit: '',
    labels: { version: 'of the hub' },
    meaning: 'Always 1; the version is in the label.',
  },
  svc_ready: {
    type: 'gauge',
    unit: '',
    labels: { subsystem: SUBSYSTEMS },
    meaning: '1 when /readyz calls the subsystem ready, else 0.',
  },
  svc_http_requests_total: {
    type: 'counter',
    unit: 'requests',
    labels: {
      port: PORTS,
      route: 'route templates; `other` without one',
      code: 'statuses',
    },
    meaning: 'Requests that the port answered.',
  },
  svc_http_request_duration_seconds: {
    type: 'histogram',
    unit: 'seconds',
    labels: { port: PORTS, route: 'route templates; `other` without one' },
    meaning: 'From the headers of a request to the end of its answer.',
    buckets: FAST,
  },
  svc_refusals_total: {
    type: 'counter',
    unit: 'requests',
    labels: {
      port: [...PORTS, 'metrics'],
      error: [...Object.keys(WIRE_ERRORS), 'pipelined', 'stalled'],
    },
    meaning:
      'Requests that the port refused, also when they were not HTTP. It counts each refusal; the log has one in ten seconds for an address and a code.',
  },
  svc_connections: {
    type: 'gauge',
    unit: 'connections',
    labels: { port: PORTS },
    meaning: 'Open connections.',
  },
  svc_tls_handshake_failures_total: {
    type: 'counter',
    unit: 'handshakes',
    labels: {},
    meaning: 'TLS handshakes that failed, on all ports with TLS.',
  },
  svc_events_refused_total: {
    type: 'counter',
    unit: 'events',
    labels: { reason: EVENT_REFUSALS },
    meaning:
      'Events and changes of recipients that the hub refused: the agent has used up its bytes of the day (`SVC_LIMIT_EVENT_BYTES`), or the disk is nearly full.',
  },
  svc_ca_calls_total: {
    type: 'counter',
    unit: 'calls',
    labels: { outcome: CA_OUTCOMES },
    meaning:
      'Calls to the CA for a certificate. `refused`: the CA said no to this request; all others but `ok` are faults.',
  },
  svc_ca_call_duration_seconds: {
    type: 'histogram',
    unit: 'seconds',
    labels: {},
    meaning: 'How long a call to the CA took, with its time in the queue.',
    buckets: FAST,
  },
  svc_ca_last_success_timestamp_seconds: {
    type: 'gauge',
    unit: 'seconds since 1970',
    labels: {},
    meaning: 'When the CA last signed; absent until the CA has signed since the start.',
  },
  svc_store_commits_total: {
    type: 'counter',
    unit: 'commits',
    labels: { outcome: ['ok', 'failed'] },
    meaning: 'Transactions; each has all writes that arrived during the transaction before.',
  },
  svc_store_batch_writes: {
    type: 'histogram',
    unit: 'writes',
    labels: {},
    meaning: 'How many writes shared one commit.',
    buckets: [1, 2, 4, 8, 16, 32, 64, 128, 256],
  },
  svc_store_commit_duration_seconds: {
    type: 'histogram',
    unit: 'seconds',
    labels: {},
    meaning: 'How long a commit took: the wait for the disk.',
    buckets: [0.0001, 0.00025, 0.0005, ...FAST],
  },
  svc_agents: {
    type: 'gauge',
    unit: 'agents',
    labels: { state: ['registered', 'atrasado', 'revoked'] },
    meaning: 'Agents by the state that `svc agente list` shows.',
  },
  svc_agents_duplicated: {
    type: 'gauge',
    unit: 'agents',
    labels: {},
    meaning: 'Agents whose identity is used from two places, such as a host and its copy.',
  },
  svc_agent_duplicated_timestamp_seconds: {
    type: 'gauge',
    unit: 'seconds since 1970',
    labels: { hostname: HOSTNAME },
    meaning: 'Since when the identity of an agent is used from two places; at most 100 agents.',
  },
  svc_certificates: {
    type: 'gauge',
    unit: 'certificates',
    labels: { purpose: PURPOSES, state: ['valid', 'atrasado', 'expired'] },
    meaning: 'Certificates in use by agents that are not revoked.',
  },
  svc_certificates_first_not_after_timestamp_seconds: {
    type: 'gauge',
    unit: 'seconds since 1970',
    labels: { purpose: PURPOSES },
    meaning: 'When the first certificate ends that has not expired; absent when there is none.',
  },
  svc_certificates_ending: {
    type: 'gauge',
    unit: 'certificates',
    labels: { purpose: PURPOSES, within: Object.keys(ENDING_WITHIN) },
    meaning:
      'Certificates that have not expired and end within that time; a longer time includes the shorter ones.',
  },
  svc_certificate_late_not_after_timestamp_seconds: {
    type: 'gauge',
    unit: 'seconds since 1970',
    labels: { hostname: HOSTNAME, purpose: PURPOSES, nome: CARGO_NAME },
    meaning: 'When each late or expired certificate ends; the first 100 to end.',
  },
  svc_certificate_not_after_timestamp_seconds: {
    type: 'gauge',
    unit: 'seconds since 1970',
    labels: { hostname: HOSTNAME, purpose: PURPOSES, nome: CARGO_NAME },
    meaning:
      'When each unexpired certificate ends; the first to end, as many as `SVC_METRICS_CERTIFICATES` allows.',
  },
  svc_survival_seconds: {
    type: 'gauge',
    unit: 'seconds',
    labels: {},
    meaning:
      'For how long the hub may stay down before the first host loses a certificate; absent when no host has a certificate.',
  },
  svc_deliveries: {
    type: 'gauge',
    unit: 'entregas',
    labels: { status: LIVE_STATUSES },
    meaning: 'Entregas by status, without cancelled and replaced ones.',
  },
  svc_deliveries_reverted: {
    type: 'gauge',
    unit: 'entregas',
    labels: {},
    meaning:
      'Entregas that are `revertida`: their hosts have taken back a target. They count in `svc_deliveries` too.',
  },
  svc_delivery_reverted_timestamp_seconds: {
    type: 'gauge',
    unit: 'seconds since 1970',
    labels: { hostname: HOSTNAME, nome: 'of cargas' },
    meaning: 'Since when an entrega is `revertida`; the 100 targets that have been so for longest.',
  },
  ...ROLLOUT_METRICS,
  ...JOIN_METRICS,
  svc_delivery_oldest_waiting_seconds: {
    type: 'gauge',
    unit: 'seconds',
    labels: {},
    meaning:
      'For how long the oldest waiting entrega has been `pendente` or `em_andamento`; 0 when no entrega waits.',
  },
  svc_audit_last_seq: {
    type: 'gauge',
    unit: 'entries',
    labels: {},
    meaning: 'The number of the last entry of the audit log; the log has as many entries.',
  },
  svc_audit_oldest_entry_timestamp_seconds: {
    type: 'gauge',
    unit: 'seconds since 1970',
    labels: {},
    meaning: 'When the oldest entry that is still in the vault was recorded.',
  },
  svc_log_segments: {
    type: 'gauge',
    unit: 'segments',
    labels: { state: 'present, missing or damaged' },
    meaning:
      'The segments that the log was archived into, as the hub saw their files last; it looks every 15 minutes.',
  },
  svc_log_archive_failed: {
    type: 'gauge',
    unit: '0 or 1',
    labels: {},
    meaning: 'Whether the hub failed when it last archived what is older than SVC_LOG_KEEP.',
  },
  svc_backup_timestamp_seconds: {
    type: 'gauge',
    unit: 'seconds since 1970',
    labels: {},
    meaning: 'When the newest whole backup in SVC_BACKUP_DIR was made; 0 when there is none.',
  },
  svc_backup_interval_seconds: {
    type: 'gauge',
    unit: 'seconds',
    labels: {},
    meaning: 'How often the hub makes a backup: SVC_BACKUP_INTERVAL; 0 without SVC_BACKUP_DIR.',
  },
  svc_audit_checkpoint_timestamp_seconds: {
    type: 'gauge',
    unit: 'seconds since 1970',
    labels: { place: CHECKPOINT_PLACES },
    meaning:
      'When the newest checkpoint covered the whole audit log last; `outside` is SVC_CHECKPOINT_PATH.',
  },
  svc_audit_last_entry_timestamp_seconds: {
    type: 'gauge',
    unit: 'seconds since 1970',
    labels: {},
    meaning: 'The time of the last entry of the audit log; absent while it is empty.',
  },
  svc_database_size_bytes: {
    type: 'gauge',
    unit: 'bytes',
    labels: { file: ['database', 'wal'] },
    meaning: 'Size of the database and of its write-ahead log on the disk.',
  },
  svc_standby_state: {
    type: 'gauge',
    unit: '',
    labels: { state: STANDBY_STATES },
    meaning:
      '1 for how the hub is with its standby, else 0. `together`: the standby has all that was acknowledged; `alone`: it lacks some; `apart`: the hub writes nothing without it. Absent without SVC_STANDBY_BIND.',
  },
  svc_journal_last_record: {
    type: 'gauge',
    unit: 'records',
    labels: {},
    meaning:
      'The number of the last record of the journal that the hub has run; this and the following are absent for a vault that shares no journal.',
  },
  svc_journal_behind_records: {
    type: 'gauge',
    unit: 'records',
    labels: {},
    meaning:
      'Records of the journal that the hub has yet to run, as it saw the journal last; it looks every minute.',
  },
  svc_journal_seen_timestamp_seconds: {
    type: 'gauge',
    unit: 'seconds since 1970',
    labels: {},
    meaning: 'When the hub saw last how large the journal is.',
  },
  svc_journal_followed_records_total: {
    type: 'counter',
    unit: 'records',
    labels: {},
    meaning: 'Records of other hubs that this hub has run.',
  },
  svc_journal_turn_wait_seconds: {
    type: 'histogram',
    unit: 'seconds',
    labels: {},
    meaning:
      'How long a transaction waited until no other hub wrote, and the hub had run what it lacked.',
    buckets: FAST,
  },
  svc_journal_records_since_image: {
    type: 'gauge',
    unit: 'records',
    labels: {},
    meaning:
      'Records after the newest image: what a hub that joins runs one by one. All records where there is no image.',
  },
  svc_journal_bytes_since_image: {
    type: 'gauge',
    unit: 'bytes',
    labels: {},
    meaning: 'How large these records are.',
  },
  svc_journal_image_size_bytes: {
    type: 'gauge',
    unit: 'bytes',
    labels: {},
    meaning: 'Size of the newest whole image of the vault in the journal; absent without one.',
  },
  svc_journal_image_timestamp_seconds: {
    type: 'gauge',
    unit: 'seconds since 1970',
    labels: {},
    meaning: 'When the newest whole image of the vault was made; absent without one.',
  },
  svc_vault_free_bytes: {
    type: 'gauge',
    unit: 'bytes',
    labels: {},
    meaning: 'Free space of the vault’s file system.',
  },
  svc_streams: {
    type: 'gauge',
    unit: 'streams',
    labels: {},
    meaning: 'Agents that hold their stream, and so learn at once what is new.',
  },
  svc_webhook_backlog_entries: {
    type: 'gauge',
    unit: 'entries',
    labels: { webhook: WEBHOOK_ID },
    meaning: 'Entries of the audit log that the hub has yet to send to the webhook, or to skip.',
  },
  svc_webhook_dead_messages: {
    type: 'gauge',
    unit: 'messages',
    labels: { webhook: WEBHOOK_ID },
    meaning: 'Messages that the hub gave up; it keeps the newest 1,000 of a webhook.',
  },
  svc_vault_free_floor_bytes: {
    type: 'gauge',
    unit: 'bytes',
    labels: {},
    meaning:
      'Below this much free space agents have only a reserve for events; below half of it the hub refuses events (`SVC_LIMIT_FREE_SPACE`). 0 when the limit is lifted.',
  },
  svc_server_certificate_not_after_timestamp_seconds: {
    type: 'gauge',
    unit: 'seconds since 1970',
    labels: {},
    meaning: 'When the hub’s own certificate ends.',
  },
  svc_event_loop_utilization_ratio: {
    type: 'gauge',
    unit: 'ratio',
    labels: {},
    meaning: 'How busy the hub’s one thread was since the last scrape; 1 means always.',
  },
  process_cpu_seconds_total: {
    type: 'counter',
    unit: 'seconds',
    labels: {},
    meaning: 'Processor time of the process.',
  },
  process_resident_memory_bytes: {
    type: 'gauge',
    unit: 'bytes',
    labels: {},
    meaning: 'Memory of the process.',
  },
  process_start_time_seconds: {
    type: 'gauge',
    unit: 'seconds since 1970',
    labels: {},
    meaning: 'When the process started.',
  },
} as const satisfies MetricTable
export type HubMetrics = typeof HUB_METRICS
