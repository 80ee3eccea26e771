// The ends of the certificates in use, counted: whole groups from the table that triggers keep, and rows only of the quarters of an
// hour in which certificates pass from one state to the next.

import {
  type EndCount,
  type EndState,
  type EndGroup,
  findCommonState,
  QUARTER_MS,
} from '../../domain/fleet-ends.ts'
import type { CertificateInUse } from '../../domain/fleet.ts'
import type { LateRule } from '../store.ts'
import { IN_USE, type InUseRow, IS_LATE, LATE_FROM, parametersOf, toInUse } from './fleet-query.ts'
import type { SqlSession } from './sql-session.ts'

const STATE = `CASE WHEN not_after <= @nowMs THEN 'expired' WHEN ${LATE_FROM} <= @nowMs THEN 'late'
  WHEN not_after - min(@thresholdMs, (not_after - not_before) / 3) <= @nowMs THEN 'renewing'
  ELSE 'fresh' END`

const GROUPS = `SELECT quarto * ${QUARTER_MS} AS quarterMs, minutos AS lifeMinutes, total AS count
  FROM validades_por_vida WHERE quarto <= ?`

const ROWS = `SELECT value AS quarterMs, (not_after - not_before) / 60000 AS lifeMinutes,
    ${STATE} AS state, count(*) AS count
  FROM json_each(@quarters) CROSS JOIN validades INDEXED BY validades_por_fim
    ON not_after >= value AND not_after < value + ${QUARTER_MS}
  GROUP BY 1, 2, 3`

/** Those that end in the quarter of this instant or before. */
export function selectEndCounts(session: SqlSession, rule: LateRule, until: Date): EndCount[] {
  const named = parametersOf(rule)
  const groups = session.all<EndGroup>(GROUPS, Math.floor(until.getTime() / QUARTER_MS))
  const judged = groups.map((group) => ({ ...group, state: findCommonState(group, named) }))
  const mixed = new Set(judged.flatMap(({ state, quarterMs }) => (state ? [] : [quarterMs])))
  const counted = judged.filter(isOfOneState).filter(({ quarterMs }) => !mixed.has(quarterMs))
  if (mixed.size === 0) return counted
  const quarters = JSON.stringify([...mixed])
  return [...counted, ...session.all<EndCount>(ROWS, { ...named, quarters })]
}

function isOfOneState(
  judged: EndGroup & { readonly state: EndState | undefined },
): judged is EndCount {
  return judged.state !== undefined
}

/** Ended last comes first. */
export function selectExpired(session: SqlSession, now: Date, limit: number): CertificateInUse[] {
  const sql = `${IN_USE} WHERE not_after <= ? ORDER BY not_after DESC LIMIT ?`
  return session.all<InUseRow>(sql, now.getTime(), limit).map(toInUse)
}

export function selectLateInTime(
  session: SqlSession,
  rule: LateRule,
  limit: number,
): CertificateInUse[] {
  const sql = `${IN_USE} WHERE not_after > @nowMs AND ${IS_LATE} ORDER BY not_after LIMIT @limit`
  return session.all<InUseRow>(sql, { ...parametersOf(rule), limit }).map(toInUse)
}

const IS_LATE_HOST = `EXISTS (SELECT 1 FROM validades INDEXED BY validades_por_agente
  WHERE agente_id = agentes.id AND ${IS_LATE})`
const BY_FIRST_END = 'FROM agentes INDEXED BY agentes_por_primeiro_fim'

/** The first certificate to end of those whose hosts have none that is late. */
export function selectFirstOnTime(
  session: SqlSession,
  rule: LateRule,
): CertificateInUse | undefined {
  const named = parametersOf(rule)
  // No later end is late, and of the hosts before it most are.
  const lastLateMs = named.nowMs + named.thresholdMs / 2
  const among = (rest: string): { id: string } | undefined =>
    session.get<{ id: string }>(
      `SELECT id ${BY_FIRST_END} WHERE ${rest} ORDER BY primeiro_fim LIMIT 1`,
      { ...named, lastLateMs },
    )
  const before = 'primeiro_fim > @nowMs AND primeiro_fim <= @lastLateMs'
  const hasOnTimeBefore =
    countLateUntil(session, rule, lastLateMs) < countFirstEnds(session, lastLateMs)
  const host =
    (hasOnTimeBefore ? among(`${before} AND NOT ${IS_LATE_HOST}`) : undefined) ??
    among('primeiro_fim > max(@lastLateMs, @nowMs)')
  const sql = `${IN_USE} WHERE validades.agente_id = ? ORDER BY not_after LIMIT 1`
  const row = host && session.get<InUseRow>(sql, host.id)
  return row && toInUse(row)
}

/** Hosts that have none that is late now, and until then one that has ended. */
export function countOnTimeThatLose(session: SqlSession, rule: LateRule, until: Date): number {
  const untilMs = until.getTime()
  return countFirstEnds(session, untilMs) - countLateUntil(session, rule, untilMs)
}

/** Hosts with a certificate that ends then or before. */
export function countFirstEnds(session: SqlSession, untilMs: number): number {
  const quarter = Math.floor(untilMs / QUARTER_MS)
  const whole = session.get<{ count: number }>(
    'SELECT coalesce(sum(total), 0) AS count FROM agentes_por_quarto WHERE quarto < ?',
    quarter,
  )
  const begun = session.get<{ count: number }>(
    `SELECT count(*) AS count ${BY_FIRST_END} WHERE primeiro_fim >= ? AND primeiro_fim <= ?`,
    quarter * QUARTER_MS,
    untilMs,
  )
  return (whole?.count ?? 0) + (begun?.count ?? 0)
}

/** Of these the ones that are late now. */
function countLateUntil(session: SqlSession, rule: LateRule, untilMs: number): number {
  const sql = `SELECT count(DISTINCT validades.agente_id) AS count
    FROM validades INDEXED BY validades_por_fim
      CROSS JOIN agentes ON agentes.id = validades.agente_id
    WHERE ${IS_LATE} AND primeiro_fim <= @untilMs`
  const named = { ...parametersOf(rule), untilMs }
  return session.get<{ count: number }>(sql, named)?.count ?? 0
}
