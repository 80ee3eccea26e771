// What is counted while it happens; the rest is measured when a client asks.

import type { Clock } from '../../platform/clock.ts'
import type { MetricSet } from '../../platform/metric-set.ts'
import { ROUTES } from '../../protocol/routes.ts'
import type { AnsweredRequest } from '../http/answer-log.ts'
import type { EventOverdraft } from '../domain/event-budget.ts'
import type { JoinRefusalReason } from '../domain/join-rule.ts'
import type { CommittedBatch } from '../store/sqlite/group-commit.ts'
import type { OnCaCall } from './ca-calls.ts'
import type { HubMetrics } from './hub-metrics.ts'

export interface HubMeters {
  readonly set: MetricSet<HubMetrics>
  readonly onAnswer: (answer: AnsweredRequest) => void
  readonly onRefusal: (port: string, error: string) => void
  readonly onHandshakeFailure: () => void
  readonly onOverdraft: (overdraft: EventOverdraft) => void
  readonly onJoinRefused: (reason: JoinRefusalReason) => void
  readonly onSilentRevoked: (hosts: number) => void
  readonly onBatch: (batch: CommittedBatch) => void
  readonly onRecord: () => void
  readonly onCaCall: OnCaCall
  readonly lastCaSuccess: Date | undefined
}

export function createHubMeters(set: MetricSet<HubMetrics>, clock: Clock): HubMeters {
  let lastCaSuccess: Date | undefined
  return {
    set,
    onAnswer: ({ port, route, status, durationMs }) => {
      set.add('svc_http_requests_total', { port, route, code: String(status) })
      // A stream is answered for as long as it is held: that is no latency.
      if (route === ROUTES.stream.path) return
      set.observe('svc_http_request_duration_seconds', { port, route }, durationMs / 1000)
    },
    onRefusal: (port, error) => set.add('svc_refusals_total', { port, error }),
    onHandshakeFailure: () => set.add('svc_tls_handshake_failures_total', {}),
    onOverdraft: ({ refusal }) =>
      set.add('svc_events_refused_total', {
        reason: refusal === 'rate_limited' ? 'bytes' : 'disk',
      }),
    onJoinRefused: (reason) => set.add('svc_joins_refused_total', { reason }),
    onSilentRevoked: (hosts) => set.add('svc_silent_hosts_revoked_total', {}, hosts),
    onRecord: () => set.add('svc_journal_followed_records_total', {}),
    onBatch: ({ writes, commitMs, turnMs, isCommitted }) => {
      set.add('svc_store_commits_total', { outcome: isCommitted ? 'ok' : 'failed' })
      set.observe('svc_store_batch_writes', {}, writes)
      if (isCommitted) set.observe('svc_store_commit_duration_seconds', {}, commitMs / 1000)
      if (turnMs !== undefined) set.observe('svc_journal_turn_wait_seconds', {}, turnMs / 1000)
    },
    onCaCall: (outcome, durationMs) => {
      if (outcome === 'ok') lastCaSuccess = clock.now()
      set.add('svc_ca_calls_total', { outcome })
      set.observe('svc_ca_call_duration_seconds', {}, durationMs / 1000)
    },
    get lastCaSuccess() {
      return lastCaSuccess
    },
  }
}
