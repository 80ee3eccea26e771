// Certificates that the hub has revoked and the CA has not. An expired certificate no longer needs the CA: time alone takes
// it off the list, so that a clock which was ahead for a while loses nothing.

import type { AgentId } from '../../../protocol/identifiers.ts'
import type { CaRevocation, CaRevocationSummary } from '../../domain/ca-revocation.ts'
import type { CaRevocationPage } from '../store.ts'
import type { SqlSession } from './sql-session.ts'

interface CaRevocationRow {
  sha256: string
  serial: string
  purpose: CaRevocation['purpose']
  agente_id: AgentId
  hostname: CaRevocation['hostname']
  revoked_at: number
  not_after: number
  ca_refused_at: number | null
  ca_reason: string | null
}

interface Position {
  readonly not_after: number
  readonly seq: number
}

/** As the partial indexes say it, so that they are used. */
const LACKING = 'revoked_at IS NOT NULL AND ca_revoked_at IS NULL'

/** By expiry, then by age; undefined when `after` is no certificate. */
export function selectCaRevocations(
  session: SqlSession,
  { now, after, limit, isRefusedIncluded }: CaRevocationPage,
): CaRevocation[] | undefined {
  const start = after === undefined ? undefined : findPosition(session, after)
  if (after !== undefined && start === undefined) return undefined
  const nowMs = now.getTime()
  // All of what expires at this instant has expired.
  const from =
    start === undefined || start.not_after <= nowMs
      ? { not_after: nowMs, seq: Number.MAX_SAFE_INTEGER }
      : start
  const rows = session.all<CaRevocationRow>(
    `SELECT sha256, serial, purpose, agente_id, hostname, certificados.revoked_at, not_after,
       ca_refused_at, ca_reason
     FROM certificados INDEXED BY certificados_por_revogar_na_ca
       CROSS JOIN agentes ON agentes.id = certificados.agente_id
     WHERE certificados.revoked_at IS NOT NULL AND ca_revoked_at IS NULL
       AND (not_after, seq) > (?, ?) ${isRefusedIncluded ? '' : 'AND ca_refused_at IS NULL'}
     ORDER BY not_after, seq LIMIT ?`,
    from.not_after,
    from.seq,
    limit,
  )
  return rows.map(toCaRevocation)
}

interface CaRevocationGroup {
  readonly agente_id: AgentId
  readonly isRefused: 0 | 1
  readonly count: number
  readonly ca_reason: string | null
}

export function summarizeCaRevocations(
  session: SqlSession,
  agentIds: readonly AgentId[],
  now: Date,
): ReadonlyMap<AgentId, CaRevocationSummary> {
  // With a bare column beside it, max() takes that column from the row of the maximum.
  const groups = session.all<CaRevocationGroup>(
    `SELECT agente_id, ca_refused_at IS NOT NULL AS isRefused, count(*) AS count,
       max(ca_reason IS NOT NULL), ca_reason
     FROM json_each(?) AS wanted CROSS JOIN certificados
       INDEXED BY certificados_por_revogar_na_ca_por_agente ON agente_id = wanted.value
     WHERE ${LACKING} AND not_after > ? GROUP BY agente_id, isRefused`,
    JSON.stringify(agentIds),
    now.getTime(),
  )
  const byAgent = Map.groupBy(groups, ({ agente_id: agentId }) => agentId)
  return new Map([...byAgent].map(([agentId, ofAgent]) => [agentId, summarize(ofAgent)]))
}

function summarize(groups: readonly CaRevocationGroup[]): CaRevocationSummary {
  const waiting = groups.find(({ isRefused }) => isRefused === 0)
  const refused = groups.find(({ isRefused }) => isRefused === 1)
  return {
    waiting: waiting?.count ?? 0,
    refused: refused?.count ?? 0,
    reason: (waiting ?? refused)?.ca_reason ?? null,
  }
}

/** Whether it lacked it; what another one had said before is forgotten. */
export function markCaRevoked(session: SqlSession, sha256: string, at: Date): boolean {
  const sql = `UPDATE certificados SET ca_revoked_at = ?, ca_refused_at = NULL, ca_reason = NULL
    WHERE sha256 = ? AND ${LACKING}`
  return session.run(sql, at.getTime(), sha256) === 1
}

export function markCaRefused(
  session: SqlSession,
  sha256: string,
  at: Date,
  reason: string,
): boolean {
  const sql = `UPDATE certificados SET ca_refused_at = ?, ca_reason = ?
    WHERE sha256 = ? AND ${LACKING} AND ca_refused_at IS NULL`
  return session.run(sql, at.getTime(), reason, sha256) === 1
}

/** A CA that is away is away for all waiting revocations; rows that already say so are left alone. */
export function markCaFailing(session: SqlSession, now: Date, reason: string): void {
  const sql = `UPDATE certificados INDEXED BY certificados_por_revogar_na_ca SET ca_reason = ?
    WHERE ${LACKING} AND not_after > ? AND ca_refused_at IS NULL AND ca_reason IS NOT ?`
  session.run(sql, reason, now.getTime(), reason)
}

export function forgetCaRefusals(session: SqlSession, agentId: AgentId, now: Date): boolean {
  const sql = `UPDATE certificados INDEXED BY certificados_por_revogar_na_ca_por_agente
    SET ca_refused_at = NULL
    WHERE agente_id = ? AND ${LACKING} AND not_after > ? AND ca_refused_at IS NOT NULL`
  return session.run(sql, agentId, now.getTime()) > 0
}

function findPosition(session: SqlSession, sha256: string): Position | undefined {
  return session.get<Position>('SELECT not_after, seq FROM certificados WHERE sha256 = ?', sha256)
}

function toCaRevocation(row: CaRevocationRow): CaRevocation {
  return {
    sha256: row.sha256,
    serial: row.serial,
    purpose: row.purpose,
    agentId: row.agente_id,
    hostname: row.hostname,
    revokedAt: new Date(row.revoked_at),
    notAfter: new Date(row.not_after),
    refusedAt: row.ca_refused_at === null ? null : new Date(row.ca_refused_at),
    reason: row.ca_reason,
  }
}
