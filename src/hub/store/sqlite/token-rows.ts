import type { Agent } from '../../domain/agent.ts'
import type { EnrollmentToken } from '../../domain/enrollment-token.ts'
import { type Instant, fromDate, toDate } from './instants.ts'
import { fromLabels, toLabels } from './label-columns.ts'

export interface TokenRow {
  token_hash: EnrollmentToken['hash']
  expected_hostname: EnrollmentToken['expectedHostname']
  expected_role: string
  /** An object, as JSON. */
  labels: string | null
  created_at: Instant
  expires_at: Instant
  ended_at: Instant | null
  consumed_at: Instant | null
  reenroll: 0 | 1
  de_operador: 0 | 1
  mismatches: number
  join_rule: EnrollmentToken['joinRuleId']
  replay_fingerprint: string | null
  replay_agente_id: Agent['id'] | null
  replay_cert: string | null
}

export function toToken(row: TokenRow): EnrollmentToken {
  const { replay_fingerprint: fingerprint, replay_agente_id: agentId, replay_cert: pem } = row
  const isReplayable = fingerprint !== null && agentId !== null && pem !== null
  return {
    hash: row.token_hash,
    expectedHostname: row.expected_hostname,
    expectedRole: row.expected_role,
    labels: toLabels(row.labels),
    createdAt: new Date(row.created_at),
    expiresAt: new Date(row.expires_at),
    consumedAt: toDate(row.consumed_at),
    endedAt: toDate(row.ended_at),
    isReenrollment: row.reenroll === 1,
    isOperators: row.de_operador === 1,
    mismatches: row.mismatches,
    joinRuleId: row.join_rule,
    replay: isReplayable ? { fingerprint, agentId, certificatePem: pem } : null,
  }
}

export function fromToken(token: EnrollmentToken): TokenRow {
  return {
    token_hash: token.hash,
    expected_hostname: token.expectedHostname,
    expected_role: token.expectedRole,
    labels: fromLabels(token.labels),
    created_at: token.createdAt.getTime(),
    expires_at: token.expiresAt.getTime(),
    consumed_at: fromDate(token.consumedAt),
    ended_at: fromDate(token.endedAt),
    reenroll: token.isReenrollment ? 1 : 0,
    de_operador: token.isOperators ? 1 : 0,
    mismatches: token.mismatches,
    join_rule: token.joinRuleId,
    replay_fingerprint: token.replay?.fingerprint ?? null,
    replay_agente_id: token.replay?.agentId ?? null,
    replay_cert: token.replay?.certificatePem ?? null,
  }
}
