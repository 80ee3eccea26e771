// The ends of the certificates in use, counted: whole groups from the table that triggers keep, and rows only of the quarters of an
// hour in which certificates pass from one state to the next.

import type { AgentId } from '../../../protocol/identifiers.ts'
import type { CertificateState } from '../../../protocol/admin/certificados.ts'
import {
  type EndCount,
  type EndGroup,
  findCommonState,
  QUARTER_MS,
  wholeLifeMinutes,
} from '../../domain/fleet-ends.ts'
import type { CertificateInUse } from '../../domain/fleet.ts'
import type { LateRule } from '../store.ts'
import type { EndsWithin, LostHosts, LostPage } from '../summary-store.ts'
import { IN_USE, type InUseRow, toInUse } from './fleet-query.ts'
import {
  findLateRanges,
  IN_QUARTERS,
  IS_ON_TIME,
  LATE_FROM,
  LOOKED_MAX,
  lookAtEndingSoon,
  parametersOf,
  selectEndGroups,
} from './late-hosts.ts'
import type { SqlSession } from './sql-session.ts'

const STATE = `CASE WHEN not_after <= @nowMs THEN 'expired' WHEN ${LATE_FROM} <= @nowMs THEN 'late'
  WHEN not_after - min(@thresholdMs, (not_after - not_before) / 3) <= @nowMs THEN 'renewing'
  ELSE 'fresh' END`

const ROWS = `SELECT value AS quarterMs, min((not_after - not_before) / 60000, @wholeLife) AS lifeMinutes,
    ${STATE} AS state, count(*) AS count
  ${IN_QUARTERS}
  GROUP BY 1, 2, 3`

export function selectEndCounts(
  session: SqlSession,
  rule: LateRule,
  within: EndsWithin,
): EndCount[] {
  const named = { ...parametersOf(rule), wholeLife: wholeLifeMinutes(rule) }
  const groups = selectEndGroups(session, rule, within)
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

/** A host that is on time has nothing that is late before its first end: that one is the first row of its quarter. */
function findFirstOnTime(session: SqlSession, rule: LateRule): HostRow | undefined {
  const { untilMs: lastMs, late, onTime } = lookAtEndingSoon(session, rule)
  const named = parametersOf(rule)
  if (Math.min(late.count, onTime.count) > LOOKED_MAX) return session.get(ON_TIME_OF_ALL, named)
  for (const startMs of onTime.quarters) {
    const within = { ...named, startMs, endMs: startMs + QUARTER_MS, lastMs }
    const host = session.get<HostRow>(ON_TIME_IN_QUARTER, within)
    if (host !== undefined) return host
  }
  return session.get<HostRow>(ON_TIME_AFTER, { afterMs: Math.max(lastMs, named.nowMs) })
}

const ON_TIME_IN_QUARTER = `SELECT agente_id AS id FROM validades INDEXED BY validades_por_fim
  WHERE not_after >= @startMs AND not_after < @endMs AND ${IS_ON_TIME} ORDER BY not_after LIMIT 1`
const ON_TIME_OF_ALL = `SELECT agente_id AS id FROM validades INDEXED BY validades_por_agente
  GROUP BY agente_id HAVING min(${LATE_FROM}) > @nowMs ORDER BY min(not_after) LIMIT 1`
const ON_TIME_AFTER = `SELECT id FROM agentes INDEXED BY agentes_por_primeiro_fim
  WHERE primeiro_fim > @afterMs ORDER BY primeiro_fim LIMIT 1`

/** Each by one look at the index of its certificates. */
export function selectLost(session: SqlSession, then: Date, { after, limit }: LostPage): LostHosts {
  const from = {
    endMs: after?.firstEnd.getTime() ?? 0,
    id: after?.id ?? '',
    thenMs: then.getTime(),
  }
  const last = session.get<LostRow>(LAST_LOST, { ...from, others: limit - 1 })
  const until = last ?? { endMs: from.thenMs + 1, id: '' }
  const named = { ...from, untilMs: until.endMs, untilId: until.id }
  return {
    nextEndsMs: session.column<number | null>(NEXT_ENDS, named),
    last: last === undefined ? null : { firstEnd: new Date(last.endMs), id: last.id },
  }
}

interface LostRow {
  readonly id: AgentId
  readonly endMs: number
}

const LOST = `FROM agentes INDEXED BY agentes_por_primeiro_fim WHERE (primeiro_fim, id) > (@endMs, @id)`
const LAST_LOST = `SELECT primeiro_fim AS endMs, id ${LOST} AND primeiro_fim <= @thenMs
  ORDER BY primeiro_fim, id LIMIT 1 OFFSET @others`
const NEXT_ENDS = `SELECT (SELECT min(not_after) FROM validades INDEXED BY validades_por_agente
    WHERE agente_id = agentes.id AND not_after > @thenMs) AS next
  ${LOST} AND primeiro_fim <= @untilMs AND (primeiro_fim, id) <= (@untilMs, @untilId)`
