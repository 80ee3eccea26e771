// Questions about all agents at once, asked of indexes and of `validades`, which grows with the fleet, not with its past.

import type { AgentId } from '../../../protocol/identifiers.ts'
import { LIVE_STATUSES, type LiveStatus } from '../../domain/delivery.ts'
import {
  ENDING_WITHIN,
  type CertificateInUse,
  type CertificatesSummary,
  type EndingWithin,
  type FleetSummary,
} from '../../domain/fleet.ts'
import type { CertificatePurpose } from '../../domain/issued-certificate.ts'
import type { LateFilter, LateRule } from '../store.ts'
import { END_BUCKET_MS } from './fleet-counts-tables.ts'
import type { NamedParameters, SqlSession } from './sql-session.ts'

export interface InUseRow {
  agente_id: CertificateInUse['agentId']
  hostname: CertificateInUse['hostname']
  purpose: CertificatePurpose
  entrega_id: CertificateInUse['deliveryId']
  nome: CertificateInUse['name']
  not_before: number
  not_after: number
}

/** `lateFrom` of the domain, in SQL; a test holds the two together. */
export const LATE_FROM = 'not_after - min(@thresholdMs, (not_after - not_before) / 3) / 2'
/** What is late ends within half a threshold: a range that the index knows. */
export const IS_LATE = `not_after <= @nowMs + @thresholdMs / 2 AND ${LATE_FROM} <= @nowMs`

const LATE_AGENTS = `SELECT DISTINCT agente_id FROM validades INDEXED BY validades_por_fim WHERE ${IS_LATE}`

export const IN_USE = `SELECT validades.agente_id, hostname, purpose, entrega_id, nome, not_before, not_after
  FROM validades CROSS JOIN agentes ON agentes.id = validades.agente_id
    LEFT JOIN entregas ON entregas.id = entrega_id LEFT JOIN cargas ON cargas.id = carga_id`

export function summariseFleet(session: SqlSession, rule: LateRule): FleetSummary {
  const counts = readCounts(session)
  const live = counts('agentes', 'live')
  const late = countOf(session, `FROM (${LATE_AGENTS})`, parametersOf(rule))
  const deliveries = Object.fromEntries(
    LIVE_STATUSES.map((status) => [status, counts('entregas', status)]),
    // It has the keys of the list.
  ) as Record<LiveStatus, number>
  return {
    agents: { registered: live - late, late, revoked: counts('agentes', 'revoked') },
    certificates: {
      identity: summariseCertificates(session, 'identity', counts('validades', 'identity'), rule),
      delivery: summariseCertificates(session, 'delivery', counts('validades', 'delivery'), rule),
    },
    deliveries,
    reverted: counts('entregas', 'revertida'),
    oldestWaitingSince: oldestOf(session, ['pendente', 'em_andamento']),
  }
}

export function selectLate(session: SqlSession, filter: LateFilter): CertificateInUse[] {
  const { since, limit, ...rule } = filter
  const sinceMs = since?.getTime() ?? Number.MIN_SAFE_INTEGER
  const sql = `${IN_USE} WHERE ${IS_LATE} AND ${LATE_FROM} > @sinceMs
    ORDER BY not_after LIMIT @limit`
  return session.all<InUseRow>(sql, { ...parametersOf(rule), sinceMs, limit }).map(toInUse)
}

export function selectLateAgents(
  session: SqlSession,
  agentIds: readonly AgentId[],
  rule: LateRule,
): ReadonlyMap<AgentId, Date> {
  const sql = `SELECT wanted.value AS agente_id,
      (SELECT min(${LATE_FROM}) FROM validades INDEXED BY validades_por_agente
        WHERE agente_id = wanted.value AND ${IS_LATE}) AS since
    FROM json_each(@agentIds) AS wanted`
  const named = { ...parametersOf(rule), agentIds: JSON.stringify(agentIds) }
  const rows = session.all<{ agente_id: AgentId; since: number | null }>(sql, named)
  return new Map(
    rows.flatMap(({ agente_id: id, since }) => (since === null ? [] : [[id, new Date(since)]])),
  )
}

export function selectFirstToEnd(session: SqlSession, now: Date, limit: number) {
  const sql = `${IN_USE} WHERE not_after > ? ORDER BY not_after LIMIT ?`
  return session.all<InUseRow>(sql, now.getTime(), limit).map(toInUse)
}

export function countAgentsThatLose(session: SqlSession, after: Date, until: Date): number {
  if (after >= until) return 0
  const [afterMs, untilMs] = [after.getTime(), until.getTime()]
  const [first, last] = [bucketOf(afterMs), bucketOf(untilMs)]
  const whole = session.get<{ count: number }>(
    `SELECT coalesce(sum(total), 0) AS count FROM agentes_por_quarto
     WHERE quarto >= ? AND quarto < ?`,
    first,
    last,
  )
  const begun = (quarter: number, endMs: number): number =>
    countAgents(session, BEGIN_TO_LOSE, { startMs: quarter * END_BUCKET_MS, endMs })
  const lost = begun(last, untilMs) - begun(first, afterMs)
  return (whole?.count ?? 0) + lost + countAgents(session, LOSE_ANOTHER, { afterMs, untilMs })
}

const AGENTS_BY_END = `SELECT count(DISTINCT validades.agente_id) AS count
  FROM validades INDEXED BY validades_por_fim`
/** Those whose first certificate to end does so then. */
const BEGIN_TO_LOSE = `${AGENTS_BY_END} CROSS JOIN agentes ON agentes.id = validades.agente_id
  WHERE not_after >= @startMs AND not_after <= @endMs AND primeiro_fim >= @startMs`
/** Of those that have lost one before, which are few: an expired certificate is not in use for long. */
const LOSE_ANOTHER = `${AGENTS_BY_END} WHERE not_after <= @afterMs
  AND EXISTS (SELECT 1 FROM validades AS outra INDEXED BY validades_por_agente
    WHERE outra.agente_id = validades.agente_id
      AND outra.not_after > @afterMs AND outra.not_after <= @untilMs)`

function countAgents(session: SqlSession, sql: string, named: NamedParameters): number {
  return session.get<{ count: number }>(sql, named)?.count ?? 0
}

/** Counts whole quarters of an hour from their table, and rows only in the quarters that a range begins or ends in. */
function summariseCertificates(
  session: SqlSession,
  purpose: CertificatePurpose,
  total: number,
  rule: LateRule,
): CertificatesSummary {
  const named = { ...parametersOf(rule), purpose }
  const { nowMs } = named
  const ofPurpose = 'FROM validades INDEXED BY validades_por_uso WHERE purpose = @purpose'
  const rowsBetween = (afterMs: number, untilMs: number): number =>
    countOf(session, `${ofPurpose} AND not_after > @afterMs AND not_after <= @untilMs`, {
      purpose,
      afterMs,
      untilMs,
    })
  const between = (afterMs: number, untilMs: number): number => {
    const [first, last] = [bucketOf(afterMs) + 1, bucketOf(untilMs)]
    if (first > last) return rowsBetween(afterMs, untilMs)
    const whole = `SELECT coalesce(sum(total), 0) AS count FROM validades_por_quarto
      WHERE purpose = @purpose AND quarto >= @first AND quarto < @last`
    const inWhole = session.get<{ count: number }>(whole, { purpose, first, last })?.count ?? 0
    const atEnds =
      rowsBetween(afterMs, first * END_BUCKET_MS - 1) +
      rowsBetween(last * END_BUCKET_MS - 1, untilMs)
    return inWhole + atEnds
  }
  const expired = between(-1, nowMs)
  const late = countOf(session, `${ofPurpose} AND not_after > @nowMs AND ${IS_LATE}`, named)
  let fromMs = nowMs
  let ending = 0
  const endingWithin = Object.entries(ENDING_WITHIN).map(([name, seconds]) => {
    const untilMs = nowMs + seconds * 1000
    ending += between(fromMs, untilMs)
    fromMs = untilMs
    return [name, ending]
  })
  const first = session.get<{ not_after: number }>(
    `SELECT not_after ${ofPurpose} AND not_after > @nowMs ORDER BY not_after LIMIT 1`,
    { purpose, nowMs },
  )
  return {
    valid: total - expired - late,
    late,
    expired,
    firstNotAfter: first === undefined ? undefined : new Date(first.not_after),
    // It has the keys of the table.
    endingWithin: Object.fromEntries(endingWithin) as Record<EndingWithin, number>,
  }
}

function bucketOf(instantMs: number): number {
  return Math.floor(instantMs / END_BUCKET_MS)
}

/** What triggers have counted. */
function readCounts(session: SqlSession): (table: string, state: string) => number {
  const rows = session.all<{ tabela: string; estado: string; total: number }>(
    `SELECT tabela, estado, total FROM contagens
     WHERE tabela IN ('agentes', 'entregas', 'validades')`,
  )
  const totals = new Map(rows.map(({ tabela, estado, total }) => [`${tabela} ${estado}`, total]))
  return (table, state) => totals.get(`${table} ${state}`) ?? 0
}

function countOf(session: SqlSession, rest: string, named: NamedParameters = {}): number {
  return session.get<{ count: number }>(`SELECT count(*) AS count ${rest}`, named)?.count ?? 0
}

function oldestOf(session: SqlSession, statuses: readonly LiveStatus[]): Date | undefined {
  const instants = statuses.flatMap((status) => {
    const sql = 'SELECT updated_at FROM entregas WHERE status = ? ORDER BY updated_at LIMIT 1'
    return session.get<{ updated_at: number }>(sql, status)?.updated_at ?? []
  })
  return instants.length === 0 ? undefined : new Date(Math.min(...instants))
}

export function parametersOf({ now, thresholdMs }: LateRule): {
  nowMs: number
  thresholdMs: number
} {
  return { nowMs: now.getTime(), thresholdMs }
}

export function toInUse(row: InUseRow): CertificateInUse {
  return {
    agentId: row.agente_id,
    hostname: row.hostname,
    purpose: row.purpose,
    deliveryId: row.entrega_id,
    name: row.nome,
    notBefore: new Date(row.not_before),
    notAfter: new Date(row.not_after),
  }
}
