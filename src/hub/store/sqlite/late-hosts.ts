// How many hosts are late, however many they are. What ends before a certain instant is late, and what ends after another one is not:
// both follow from what triggers have counted. Of what ends between them, where lives differ, the fewer are looked at.

import {
  type EndGroup,
  findCommonLateness,
  hasWholeWindow,
  QUARTER_MS,
  wholeLifeMinutes,
} from '../../domain/fleet-ends.ts'
import type { LateRule } from '../store.ts'
import type { EndsWithin } from '../summary-store.ts'
import type { NamedParameters, SqlSession } from './sql-session.ts'

/** `lateFrom` of the domain, in SQL; a test holds the two together. */
export const LATE_FROM = 'not_after - min(@thresholdMs, (not_after - not_before) / 3) / 2'
/** What is late ends within half a threshold: a range that the index knows. */
export const IS_LATE: string = `not_after <= @nowMs + @thresholdMs / 2 AND ${LATE_FROM} <= @nowMs`

const IN_RANGE = 'quarto > @afterQuarter AND quarto <= @lastQuarter'
const GROUPS = `SELECT quarto * ${QUARTER_MS} AS quarterMs, @wholeLife AS lifeMinutes, sum(total) AS count
    FROM validades_por_vida WHERE ${IN_RANGE} AND minutos >= @wholeLife GROUP BY quarto
  UNION ALL SELECT quarto * ${QUARTER_MS}, minutos, total
    FROM validades_por_vida WHERE ${IN_RANGE} AND minutos < @wholeLife
  ORDER BY 1`

/** Rows of some quarters of an hour. Any further bound of `not_after` has a `+`: SQLite would take it in place of the quarter’s. */
export const IN_QUARTERS: string = `FROM json_each(@quarters) CROSS JOIN validades INDEXED BY validades_por_fim
  ON not_after >= value AND not_after < value + ${QUARTER_MS}`

/** The first quarter first. Long lives, of which there may be as many as there are hosts, are one group of each quarter. */
export function selectEndGroups(
  session: SqlSession,
  rule: LateRule,
  { after, until }: EndsWithin,
): EndGroup[] {
  const quarterOf = (at: Date): number => Math.floor(at.getTime() / QUARTER_MS)
  return session.all<EndGroup>(GROUPS, {
    wholeLife: wholeLifeMinutes(rule),
    afterQuarter: after === undefined ? Number.MIN_SAFE_INTEGER : quarterOf(after),
    lastQuarter: quarterOf(until),
  })
}

export interface EndingSoon {
  /** No later end is late. */
  readonly lastLateMs: number
  /** All that end before it are late. */
  readonly fromMs: number
  /** None that ends after it is late. */
  readonly untilMs: number
  /** Of those that end between them. */
  readonly late: EndingSide
  readonly onTime: EndingSide
}

export interface EndingSide {
  readonly count: number
  /** In which they end, and others may: the first one first. */
  readonly quarters: readonly number[]
}

export function lookAtEndingSoon(session: SqlSession, rule: LateRule): EndingSoon {
  const { lastLateMs, late, onTime } = judgeEndingSoon(session, rule)
  const { fromMs, untilMs } = findMixedRange(lastLateMs, late, onTime)
  const between = (counts: ReadonlyMap<number, number>): EndingSide => {
    const within = [...counts].filter(([startMs]) => startMs >= fromMs && startMs <= untilMs)
    return {
      count: within.reduce((sum, [, count]) => sum + count, 0),
      quarters: within.map(([startMs]) => startMs),
    }
  }
  return { lastLateMs, fromMs, untilMs, late: between(late), onTime: between(onTime) }
}

/** Before every end. */
const NEVER_MS = Number.MIN_SAFE_INTEGER

/** Empty, with its end before its beginning, where a single instant parts them, or where there are none that are late. */
function findMixedRange(
  lastLateMs: number,
  late: ReadonlyMap<number, number>,
  onTime: ReadonlyMap<number, number>,
): EndRange {
  const lastQuarterMs = [...late.keys()].at(-1)
  if (lastQuarterMs === undefined) return { fromMs: NEVER_MS, untilMs: NEVER_MS - 1 }
  const [firstOnTimeMs = Number.POSITIVE_INFINITY] = onTime.keys()
  const fromMs = Math.min(lastLateMs + 1, firstOnTimeMs)
  const untilMs = Math.min(lastLateMs, lastQuarterMs + QUARTER_MS - 1)
  return { fromMs, untilMs: Math.max(untilMs, fromMs - 1) }
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
  for (const startMs of late.keys()) {
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
  /** By quarter, the first one first. What may be either is on both sides. */
  readonly late: ReadonlyMap<number, number>
  readonly onTime: ReadonlyMap<number, number>
}

function judgeEndingSoon(session: SqlSession, rule: LateRule): Judged {
  const at = parametersOf(rule)
  // Of a life with a whole window what ends by then is late, and nothing else.
  const lastLateMs = at.nowMs + at.thresholdMs / 2
  const late = new Map<number, number>()
  const onTime = new Map<number, number>()
  for (const group of selectEndGroups(session, rule, { until: new Date(lastLateMs) })) {
    const isLate = hasWholeWindow(group, at) || findCommonLateness(group, at)
    for (const side of isLate === undefined ? [late, onTime] : isLate ? [late] : [onTime]) {
      side.set(group.quarterMs, (side.get(group.quarterMs) ?? 0) + group.count)
    }
  }
  return { lastLateMs, late, onTime }
}

/** Hosts that are late, of those with a certificate that ends then or before. */
export function countLateHosts(
  session: SqlSession,
  rule: LateRule,
  { fromMs, untilMs, late, onTime }: EndingSoon,
  endMs: number = untilMs,
): number {
  const lastMs = Math.min(endMs, untilMs)
  const certain = countFirstEnds(session, Math.min(fromMs - 1, lastMs))
  if (lastMs < fromMs) return certain
  const named = { ...parametersOf(rule), lastMs }
  if (Math.min(late.count, onTime.count) > LOOKED_MAX) return countRows(session, LATE_OF_ALL, named)
  if (late.count <= onTime.count) {
    const quarters = JSON.stringify(late.quarters)
    return certain + countRows(session, LATE, { ...named, fromMs, quarters })
  }
  const quarters = JSON.stringify(onTime.quarters)
  return countFirstEnds(session, lastMs) - countRows(session, ON_TIME, { ...named, quarters })
}

/** To look at so many, each with the others of its host, takes as long as to read the index of all. */
export const LOOKED_MAX = 5000
const LATE_OF_ALL = `SELECT count(*) AS count FROM (SELECT 1 FROM validades INDEXED BY validades_por_agente
  GROUP BY agente_id HAVING min(not_after) <= @lastMs AND min(${LATE_FROM}) <= @nowMs)`

const HOSTS = `SELECT count(DISTINCT validades.agente_id) AS count ${IN_QUARTERS}`
const LATE = `${HOSTS} WHERE ${LATE_FROM} <= @nowMs
  AND (SELECT min(outra.not_after) FROM validades AS outra INDEXED BY validades_por_agente
    WHERE outra.agente_id = validades.agente_id) BETWEEN @fromMs AND @lastMs`

/** Of a row of `validades` that is not late: nothing else of its host is. */
export const IS_ON_TIME = `+not_after <= @lastMs AND ${LATE_FROM} > @nowMs
  AND NOT EXISTS (SELECT 1 FROM validades AS outra INDEXED BY validades_por_agente
    WHERE outra.agente_id = validades.agente_id AND outra.not_after <= @nowMs + @thresholdMs / 2
      AND outra.not_after - min(@thresholdMs, (outra.not_after - outra.not_before) / 3) / 2 <= @nowMs)`
const ON_TIME = `${HOSTS} WHERE ${IS_ON_TIME}`

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
