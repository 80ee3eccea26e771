// The ends of the certificates in use, counted: whole groups from the table that triggers keep, and rows only of the quarters of an
// hour in which certificates pass from one state to the next.

import type { CertificateState } from '../../../protocol/admin/certificados.ts'
import {
  type EndCount,
  type EndGroup,
  findCommonState,
  QUARTER_MS,
} from '../../domain/fleet-ends.ts'
import type { CertificateInUse } from '../../domain/fleet.ts'
import type { LateRule } from '../store.ts'
import { IN_USE, type InUseRow, toInUse } from './fleet-query.ts'
import {
  countFirstEnds,
  countLateHosts,
  findLateRanges,
  GROUPS,
  IN_QUARTERS,
  IS_LATE,
  IS_ON_TIME,
  LATE_FROM,
  lookAtEndingSoon,
  parametersOf,
} from './late-hosts.ts'
import type { SqlSession } from './sql-session.ts'

const STATE = `CASE WHEN not_after <= @nowMs THEN 'expired' WHEN ${LATE_FROM} <= @nowMs THEN 'late'
  WHEN not_after - min(@thresholdMs, (not_after - not_before) / 3) <= @nowMs THEN 'renewing'
  ELSE 'fresh' END`

const ROWS = `SELECT value AS quarterMs, (not_after - not_before) / 60000 AS lifeMinutes,
    ${STATE} AS state, count(*) AS count
  ${IN_QUARTERS}
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
  judged: EndGroup & { readonly state: CertificateState | undefined },
): judged is EndCount {
  return judged.state !== undefined
}

/** Ended last comes first. */
export function selectExpired(session: SqlSession, now: Date, limit: number): CertificateInUse[] {
  const sql = `${IN_USE} WHERE not_after <= ? ORDER BY not_after DESC LIMIT ?`
  return session.all<InUseRow>(sql, now.getTime(), limit).map(toInUse)
}

/** Of hosts that have lost none: the first to end comes first. */
export function selectLateInTime(
  session: SqlSession,
  rule: LateRule,
  limit: number,
): CertificateInUse[] {
  const sql = `${IN_USE} WHERE not_after >= @fromMs AND not_after <= @untilMs
    AND ${LATE_FROM} <= @nowMs AND agentes.primeiro_fim > @nowMs ORDER BY not_after LIMIT @left`
  const named = parametersOf(rule)
  const rows: InUseRow[] = []
  for (const range of findLateRanges(session, rule, named.nowMs + 1)) {
    const left = limit - rows.length
    if (left <= 0) break
    rows.push(...session.all<InUseRow>(sql, { ...named, ...range, left }))
  }
  return rows.map(toInUse)
}

/** The first certificate to end of those whose hosts have none that is late. */
export function selectFirstOnTime(
  session: SqlSession,
  rule: LateRule,
): CertificateInUse | undefined {
  const host = findFirstOnTime(session, rule)
  const sql = `${IN_USE} WHERE validades.agente_id = ? ORDER BY not_after LIMIT 1`
  const row = host && session.get<InUseRow>(sql, host.id)
  return row && toInUse(row)
}

interface HostRow {
  readonly id: string
}

function findFirstOnTime(session: SqlSession, rule: LateRule): HostRow | undefined {
  const soon = lookAtEndingSoon(session, rule)
  const { areLateFewer, hasNone, quarters, lastLateMs: lastMs } = soon
  const named = { ...parametersOf(rule), lastMs }
  const amongSoon = (): HostRow | undefined =>
    areLateFewer
      ? session.get<HostRow>(PASSING_LATE, named)
      : session.get<HostRow>(AMONG_SOON, { ...named, quarters })
  const first = !areLateFewer && hasNone ? undefined : amongSoon()
  return first ?? session.get<HostRow>(AFTER_SOON, named)
}

const FIRST_HOST = 'SELECT id FROM agentes INDEXED BY agentes_por_primeiro_fim'
const PASSING_LATE = `${FIRST_HOST} WHERE primeiro_fim > @nowMs AND primeiro_fim <= @lastMs
    AND NOT EXISTS (SELECT 1 FROM validades INDEXED BY validades_por_agente
      WHERE agente_id = agentes.id AND ${IS_LATE})
  ORDER BY primeiro_fim LIMIT 1`
const AMONG_SOON = `SELECT validades.agente_id AS id ${IN_QUARTERS}
  CROSS JOIN agentes ON agentes.id = validades.agente_id
  WHERE ${IS_ON_TIME} AND primeiro_fim > @nowMs ORDER BY primeiro_fim LIMIT 1`
const AFTER_SOON = `${FIRST_HOST} WHERE primeiro_fim > max(@lastMs, @nowMs) ORDER BY primeiro_fim LIMIT 1`

/** Hosts that have none that is late now, and until then one that has ended. */
export function countOnTimeThatLose(session: SqlSession, rule: LateRule, until: Date): number {
  const untilMs = until.getTime()
  const soon = lookAtEndingSoon(session, rule)
  return countFirstEnds(session, untilMs) - countLateHosts(session, rule, soon, untilMs)
}
