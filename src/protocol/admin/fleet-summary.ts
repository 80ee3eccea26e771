// A whole fleet in one reply: what the first screen of a console shows. Every list in it has a bound. docs/protocol.md OVW.

import type { Static } from 'typebox'
import { nullable, time } from './operation.ts'
import { Type } from './plain-type.ts'
import { AdminHubHealth, AdminStatus, AdminSurvivalWithin } from './views.ts'

export const SUMMARY_HOSTS_MAX = 20
export const SUMMARY_GROUPS_MAX = 10
/** Of what waits or is open nobody counts further. */
export const SUMMARY_COUNT_MAX = 1000

export const fleetSummaryRequest = Type.Object({
  /** How far the ends and renewals go; 48h unless it says otherwise. */
  horizon: Type.Optional(Type.Union([Type.Literal('6h'), Type.Literal('48h'), Type.Literal('7d')])),
  /** One a minute; none unless it says so. */
  samples: Type.Optional(Type.Union([Type.Literal('hour'), Type.Literal('day')])),
})

const purpose = Type.Union([Type.Literal('identity'), Type.Literal('delivery')])

const RunningHub = Type.Object({
  /** The first of its names. */
  name: Type.String(),
  ...AdminHubHealth.properties,
  /** Of its own certificate; null while it waits for its first one. */
  certificate_not_after: nullable(time),
  ca: Type.Object({
    ready: Type.Boolean(),
    /** Since the start of the hub. */
    last_failure: nullable(Type.Object({ outcome: Type.String(), at: time })),
  }),
})

const EndBucket = Type.Object({
  expired: Type.Integer(),
  atrasado: Type.Integer(),
  /** In the renewal window, and not late. */
  renewing: Type.Integer(),
  fresh: Type.Integer(),
  /** Certificates that their agents are expected to renew then. */
  renewals: Type.Integer(),
})

const Ends = Type.Object({
  bucket_seconds: Type.Integer(),
  /** When the first bucket begins; now is in it. */
  from: time,
  buckets: Type.Array(EndBucket),
  /** Of all certificates in use. */
  expired: Type.Integer(),
  atrasado: Type.Integer(),
  renewing: Type.Integer(),
  fresh: Type.Integer(),
  /** Of these the ones that end after the last bucket. */
  later: Type.Integer(),
})

export const AdminUrgentHost = Type.Object({
  agente_id: Type.String(),
  hostname: Type.String(),
  /** Of its certificate that ends first; of an expired one that ended last. */
  purpose,
  /** Of the carga; null for an identity. */
  nome: nullable(Type.String()),
  not_after: time,
  atrasado_since: time,
  last_contact_at: nullable(time),
  /** At this hub; null where no hub runs. */
  connected: nullable(Type.Boolean()),
  /** What this hub last answered when the host asked for a certificate of a delivery in vain. */
  waiting_reason: nullable(Type.String()),
  waiting_reason_at: nullable(time),
})
export type AdminUrgentHost = Static<typeof AdminUrgentHost>

const urgentHosts = Type.Object({
  /** How many hosts there are. */
  total: Type.Integer(),
  first: Type.Array(AdminUrgentHost, { maxItems: SUMMARY_HOSTS_MAX }),
})

const Failures = Type.Object({
  /** `falhou`: the host said so of the newest thousand that failed; `pendente`: this hub refuses the certificate. */
  status: Type.Union([Type.Literal('falhou'), Type.Literal('pendente')]),
  reason: Type.String(),
  count: Type.Integer(),
  example: Type.Object({
    entrega_id: Type.String(),
    agente_id: Type.String(),
    hostname: Type.String(),
    nome: Type.String(),
  }),
})

const Rollout = Type.Object({
  ...AdminStatus.properties.rollouts.items.properties,
  /** Of all hosts that its waves have reached; null for all but the first five rollouts. */
  hosts: nullable(
    Type.Object({
      total: Type.Integer(),
      done: Type.Integer(),
      pending: Type.Integer(),
      failed: Type.Integer(),
    }),
  ),
})

const LaggingWebhook = Type.Object({
  id: Type.String(),
  /** Never the whole URL. */
  origin: Type.String(),
  disabled: Type.Boolean(),
  /** Null while it does not fail. */
  error: nullable(Type.String()),
  /** How often the next message has failed. */
  attempts: Type.Integer(),
  next_attempt_at: nullable(time),
  waiting: Type.Integer(),
  dead: Type.Integer(),
})

const numbers = Type.Array(nullable(Type.Number()))

const Samples = Type.Object({
  /** Since when this hub counts: its start. */
  since: time,
  /** When the last minute ended; in each list the last figure is of that minute, and the one before of the minute before. */
  until: time,
  interval_seconds: Type.Integer(),
  /** Of agents. */
  requests_per_second: numbers,
  request_p99_ms: numbers,
  ca_median_ms: numbers,
  ca_p99_ms: numbers,
  connected: numbers,
  busy_percent: numbers,
})

export const AdminFleetSummary = Type.Object({
  version: Type.String(),
  /** By the hub's clock, when it answered. */
  time,
  /** When it had the figures: at most a second before, or ten times as long as it took to gather them. */
  as_of: time,
  /** Null without a running hub. */
  hub: nullable(RunningHub),
  agentes: Type.Object({
    /** Neither revoked nor late. */
    registered: Type.Integer(),
    atrasado: Type.Integer(),
    revoked: Type.Integer(),
    /** Streams that this hub holds; null where no hub runs. */
    connected: nullable(Type.Integer()),
  }),
  certificados: Ends,
  /** Hosts with a certificate that is late and has not ended; the first to end comes first. */
  atrasados: urgentHosts,
  /** Hosts with one that has ended; the one that ended last comes first. */
  expirados: urgentHosts,
  /** For how long the hub may stay down; null when no host has a certificate that could end. */
  survival: nullable(AdminSurvivalWithin),
  /** The same without the hosts that have a late certificate, which do not renew anyway. */
  survival_on_time: nullable(AdminSurvivalWithin),
  entregas: AdminStatus.properties.entregas,
  failures: Type.Array(Failures, { maxItems: 2 * SUMMARY_GROUPS_MAX }),
  mudanca: AdminStatus.properties.mudanca,
  rollouts: Type.Array(Rollout),
  freeze: AdminStatus.properties.freeze,
  /** The newest set of roots; null in a vault that no hub has run with. */
  raizes: nullable(
    Type.Object({
      epoca: Type.Integer(),
      numero: Type.Integer(),
      /** Agents that say that they trust exactly these roots. */
      adopted: Type.Integer(),
      /** Of so many that are not revoked. */
      agentes: Type.Integer(),
    }),
  ),
  /** Those that fail, are disabled, lack over a thousand entries, or gave messages up. */
  webhooks: Type.Object({
    total: Type.Integer(),
    first: Type.Array(LaggingWebhook, { maxItems: SUMMARY_GROUPS_MAX }),
  }),
  /** Of certificates that the CA has yet to revoke: the first hundred at most. */
  ca_revocations: Type.Object({
    waiting: Type.Integer(),
    refused: Type.Integer(),
    oldest_at: nullable(time),
    reason: nullable(Type.String()),
  }),
  /** Entries `admin_refused` of the last hour: the last hundred at most. */
  admin_refused: Type.Integer(),
  /** Tokens and join rules: a thousand and a hundred at most. */
  counts: Type.Object({
    agentes: Type.Integer(),
    cargas: Type.Integer(),
    entregas_falhou: Type.Integer(),
    politicas: Type.Integer(),
    tokens: Type.Integer(),
    join_rules: Type.Integer(),
    webhooks: Type.Integer(),
    admin_tokens: Type.Integer(),
  }),
  /** Of this hub alone; null where none were asked for, and without a running hub. */
  samples: nullable(Samples),
})
export type AdminFleetSummary = Static<typeof AdminFleetSummary>
