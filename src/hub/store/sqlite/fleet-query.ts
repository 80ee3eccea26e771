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
import {
  countLateHosts,
  type EndingSoon,
  IS_LATE,
  LATE_FROM,
  lookAtEndingSoon,
  parametersOf,
} from './late-hosts.ts'
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

export const IN_USE = `SELECT validades.agente_id, hostname, purpose, entrega_id, nome, not_before, not_after
  FROM validades CROSS JOIN agentes ON agentes.id = validades.agente_id
    LEFT JOIN entregas ON entregas.id = entrega_id LEFT JOIN cargas ON cargas.id = carga_id`

export function summariseFleet(session: SqlSession, rule: LateRule): FleetSummary {
  const counts = readCounts(session)
  const live = counts('agentes', 'live')
  const soon = lookAtEndingSoon(session, rule)
  const late = countLateHosts(session, rule, soon)
  const deliveries = Object.fromEntries(
    LIVE_STATUSES.map((status) => [status, counts('entregas', status)]),
    // It has the keys of the list.
  ) as Record<LiveStatus, number>
  return {
    agents: { registered: live - late, late, revoked: counts('agentes', 'revoked') },
    certificates: {
      identity: summariseCertificates(
        session,
        'identity',
        counts('validades', 'identity'),
        rule,
        soon,
      ),
      delivery: summariseCertificates(
        session,
        'delivery',
        counts('validades', 'delivery'),
        rule,
        soon,
      ),
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

/** Counts whole quarters of an hour from their table, and rows only in the quarters that a range begins or ends in. */
function summariseCertificates(
  session: SqlSession,
  purpose: CertificatePurpose,
  total: number,
  rule: LateRule,
  soon: EndingSoon,
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
  const late = countLate(session, soon, named, between)
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

/** Those that have not ended. */
function countLate(
  session: SqlSession,
  { fromMs, untilMs, late, onTime }: EndingSoon,
  named: { readonly nowMs: number; readonly thresholdMs: number; readonly purpose: string },
  between: (afterMs: number, untilMs: number) => number,
): number {
  const startMs = Math.max(named.nowMs, fromMs - 1)
  const certain = between(named.nowMs, startMs)
  if (untilMs <= startMs) return certain
  const areLateFewer = late.count <= onTime.count
  const { quarters } = areLateFewer ? late : onTime
  const state = `${LATE_FROM} ${areLateFewer ? '<=' : '>'} @nowMs`
  const looked = countOf(session, `${OF_PURPOSE_IN_QUARTERS} AND ${state}`, {
    ...named,
    startMs,
    untilMs,
    quarters: JSON.stringify(quarters),
  })
  return certain + (areLateFewer ? looked : between(startMs, untilMs) - looked)
}

const OF_PURPOSE_IN_QUARTERS = `FROM json_each(@quarters) CROSS JOIN validades INDEXED BY validades_por_uso
  ON purpose = @purpose AND not_after >= value AND not_after < value + ${END_BUCKET_MS}
  WHERE +not_after > @startMs AND +not_after <= @untilMs`

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
