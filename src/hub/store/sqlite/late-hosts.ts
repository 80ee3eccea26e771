// How many hosts are late, however many they are. What ends soon is late, or has so short a life that it is not: of these two the
// fewer are looked at, and the others follow from what triggers have counted.

import {
  type EndGroup,
  findCommonState,
  hasWholeWindow,
  QUARTER_MS,
} from '../../domain/fleet-ends.ts'
import type { LateRule } from '../store.ts'
import type { NamedParameters, SqlSession } from './sql-session.ts'

/** `lateFrom` of the domain, in SQL; a test holds the two together. */
export const LATE_FROM = 'not_after - min(@thresholdMs, (not_after - not_before) / 3) / 2'
/** What is late ends within half a threshold: a range that the index knows. */
export const IS_LATE: string = `not_after <= @nowMs + @thresholdMs / 2 AND ${LATE_FROM} <= @nowMs`

export const GROUPS: string = `SELECT quarto * ${QUARTER_MS} AS quarterMs, minutos AS lifeMinutes, total AS count
  FROM validades_por_vida WHERE quarto <= ?`

/** Rows of some quarters of an hour. */
export const IN_QUARTERS: string = `FROM json_each(@quarters) CROSS JOIN validades INDEXED BY validades_por_fim
  ON not_after >= value AND not_after < value + ${QUARTER_MS}`

export interface EndingSoon {
  /** No later end is late. */
  readonly lastLateMs: number
  /** There are fewer that are late; else fewer that are not. */
  readonly areLateFewer: boolean
  /** JSON: the quarters in which the fewer ones end, maybe among others. */
  readonly quarters: string
  readonly hasNone: boolean
}

export function lookAtEndingSoon(session: SqlSession, rule: LateRule): EndingSoon {
  const { lastLateMs, late, onTime } = judgeEndingSoon(session, rule)
  const areLateFewer = late.count <= onTime.count
  const { quarters } = areLateFewer ? late : onTime
  const isNone = quarters.size === 0
  return { lastLateMs, areLateFewer, quarters: JSON.stringify([...quarters]), hasNone: isNone }
}

/** Of ends, both included. */
export interface EndRange {
  readonly fromMs: number
  readonly untilMs: number
}

/** Where the late ones of those are that end at this instant or after it, the first ones first. What lives a short time may end between. */
export function findLateRanges(session: SqlSession, rule: LateRule, fromMs: number): EndRange[] {
  const { lastLateMs, late } = judgeEndingSoon(session, rule)
  const ranges: { fromMs: number; untilMs: number }[] = []
  for (const startMs of [...late.quarters].toSorted((one, other) => one - other)) {
    const range = {
      fromMs: Math.max(startMs, fromMs),
      untilMs: Math.min(startMs + QUARTER_MS - 1, lastLateMs),
    }
    if (range.fromMs > range.untilMs) continue
    const last = ranges.at(-1)
    if (last !== undefined && last.untilMs + 1 === range.fromMs) last.untilMs = range.untilMs
    else ranges.push(range)
  }
  return ranges
}

interface Judged {
  readonly lastLateMs: number
  readonly late: EndingSide
  readonly onTime: EndingSide
}

interface EndingSide {
  readonly count: number
  readonly quarters: ReadonlySet<number>
}

function judgeEndingSoon(session: SqlSession, rule: LateRule): Judged {
  const at = parametersOf(rule)
  // Of a life with a whole window what ends by then is late, and nothing else.
  const lastLateMs = at.nowMs + at.thresholdMs / 2
  const late = { count: 0, quarters: new Set<number>() }
  const onTime = { count: 0, quarters: new Set<number>() }
  for (const group of session.all<EndGroup>(GROUPS, Math.floor(lastLateMs / QUARTER_MS))) {
    const state = findCommonState(group, at)
    const isLate = hasWholeWindow(group, at) || state === 'late' || state === 'expired'
    for (const side of isLate ? [late] : state === undefined ? [late, onTime] : [onTime]) {
      side.count += group.count
      side.quarters.add(group.quarterMs)
    }
  }
  return { lastLateMs, late, onTime }
}

/** Hosts that are late, of those with a certificate that ends then or before. */
export function countLateHosts(
  session: SqlSession,
  rule: LateRule,
  soon: EndingSoon,
  untilMs: number = soon.lastLateMs,
): number {
  const { areLateFewer, quarters, lastLateMs, hasNone } = soon
  const lastMs = Math.min(untilMs, lastLateMs)
  if (hasNone) return areLateFewer ? 0 : countFirstEnds(session, lastMs)
  const named = { ...parametersOf(rule), quarters, lastMs }
  if (areLateFewer) return countRows(session, LATE, named)
  return countFirstEnds(session, lastMs) - countRows(session, ON_TIME, named)
}

const HOSTS = `SELECT count(DISTINCT validades.agente_id) AS count ${IN_QUARTERS}
  CROSS JOIN agentes ON agentes.id = validades.agente_id`
const LATE = `${HOSTS} WHERE ${IS_LATE} AND primeiro_fim <= @lastMs`

/** Of a row of `validades` that is not late: nothing else of its host is. */
export const IS_ON_TIME = `not_after <= @lastMs AND ${LATE_FROM} > @nowMs
  AND NOT EXISTS (SELECT 1 FROM validades AS outra INDEXED BY validades_por_agente
    WHERE outra.agente_id = validades.agente_id AND outra.not_after <= @nowMs + @thresholdMs / 2
      AND outra.not_after - min(@thresholdMs, (outra.not_after - outra.not_before) / 3) / 2 <= @nowMs)`
const ON_TIME = `${HOSTS} WHERE ${IS_ON_TIME} AND primeiro_fim <= @lastMs`

/** Hosts with a certificate that ends then or before. */
export function countFirstEnds(session: SqlSession, untilMs: number): number {
  const quarter = Math.floor(untilMs / QUARTER_MS)
  const whole =
    'SELECT coalesce(sum(total), 0) AS count FROM agentes_por_quarto WHERE quarto < @quarter'
  const begun = `SELECT count(*) AS count FROM agentes INDEXED BY agentes_por_primeiro_fim
    WHERE primeiro_fim >= @startMs AND primeiro_fim <= @untilMs`
  const startMs = quarter * QUARTER_MS
  return countRows(session, whole, { quarter }) + countRows(session, begun, { startMs, untilMs })
}

export function countRows(session: SqlSession, sql: string, named: NamedParameters): number {
  return session.get<{ count: number }>(sql, named)?.count ?? 0
}

export function parametersOf({ now, thresholdMs }: LateRule): {
  nowMs: number
  thresholdMs: number
} {
  return { nowMs: now.getTime(), thresholdMs }
}
