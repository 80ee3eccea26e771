// Small figures for `summarizeFleet`, each from an index or from what triggers have counted.

import type { DeliveryId } from '../../../protocol/identifiers.ts'
import type { DeliveryFailures, TrustCount } from '../summary-store.ts'
import type { SqlSession } from './sql-session.ts'

/** So many of the newest that failed are looked at. */
const FAILURES_MAX = 1000
/** The program on the host may have printed more. */
const REASON_CHARACTERS = 200

export function groupFailures(session: SqlSession, limit: number): DeliveryFailures[] {
  const newest = `SELECT id, erro FROM entregas INDEXED BY entregas_por_espera
    WHERE status = 'falhou' AND substituida_por IS NULL ORDER BY updated_at DESC LIMIT ${FAILURES_MAX}`
  const sql = `SELECT substr(coalesce(erro, ''), 1, ${REASON_CHARACTERS}) AS reason, count(*) AS count,
      min(id) AS example
    FROM (${newest}) GROUP BY reason ORDER BY count DESC, reason LIMIT ?`
  return session.all<{ reason: string; count: number; example: DeliveryId }>(sql, limit)
}

export function countCargoes(session: SqlSession): number {
  const sql = `SELECT total FROM contagens WHERE tabela = 'cargas' AND estado = 'live'`
  return session.get<{ total: number }>(sql)?.total ?? 0
}

export function countOpenTokens(session: SqlSession, now: Date, max: number): number {
  const open = `SELECT 1 FROM enrollment_tokens INDEXED BY tokens_por_fim
    WHERE consumed_at IS NULL AND ended_at IS NULL AND expires_at > ? LIMIT ?`
  const sql = `SELECT count(*) AS total FROM (${open})`
  return session.get<{ total: number }>(sql, now.getTime(), max)?.total ?? 0
}

export function selectTrustCounts(session: SqlSession, limit: number): TrustCount[] {
  const sql = `SELECT fingerprints, pinned, total FROM raizes_confiadas WHERE total > 0
    ORDER BY total DESC LIMIT ?`
  return session
    .all<{ fingerprints: string; pinned: string; total: number }>(sql, limit)
    .map(({ fingerprints, pinned, total }) => ({
      fingerprints: JSON.parse(fingerprints) as string[],
      pinned: pinned === '' ? null : (JSON.parse(pinned) as string[]),
      count: total,
    }))
}
