// Hosts as an operator lists them: by a part of their names, by the first end of their certificates, by when they enrolled.

import type { AgentId } from '../../../protocol/identifiers.ts'
import type { Agent } from '../../domain/agent.ts'
import type { HostsByEnd, NameSearch, NamesFound, EndPage } from '../list-store.ts'
import type { LateRule, Page } from '../store.ts'
import { namesOf } from './agent-labels.ts'
import { type AgentRow, toAgent } from './agent-rows.ts'
import { BEGINNING, findPlace, IN_USE_PLACE } from './certificates-in-use.ts'
import { findLateRanges, LATE_FROM, parametersOf } from './late-hosts.ts'
import type { SqlSession } from './sql-session.ts'

/** A step of migrations.ts; the ids of agents say nothing of when they enrolled. */
export const HOST_LISTS = `
CREATE INDEX agentes_por_matricula ON agentes (created_at, id) WHERE removed_at IS NULL;
CREATE INDEX certificados_por_serial ON certificados (serial);
`

interface NamesRow {
  last: string | null
  looked: number
  count: number
  found: string
}

/** The names stand in the index itself: to look at 5,000 of them takes a millisecond, whatever they are. */
export function searchNames(
  session: SqlSession,
  { source, text, after = '', looked, isCounted = false }: NameSearch,
): NamesFound {
  const [names, parameters] = namesOf(source)
  const found = isCounted
    ? "'[]'"
    : 'json_group_array(hostname) FILTER (WHERE instr(hostname, ?) > 0)'
  const sql = `SELECT max(hostname) AS last, count(*) AS looked, ${
    isCounted ? 'count(*) FILTER (WHERE instr(hostname, ?) > 0)' : '0'
  } AS count, ${found} AS found FROM (${names} LIMIT ?)`
  const row = session.get<NamesRow>(sql, text, ...parameters, after, looked)
  if (row === undefined) return { hostnames: [], count: 0, last: null }
  // It has what json_group_array makes.
  const hostnames = JSON.parse(row.found) as string[]
  return {
    hostnames: hostnames.toSorted(byBytes),
    count: isCounted ? row.count : hostnames.length,
    last: row.looked < looked ? null : row.last,
  }
}

function byBytes(one: string, other: string): number {
  if (one === other) return 0
  return one < other ? -1 : 1
}

const IS_FIRST = `NOT EXISTS (SELECT 1 FROM validades AS outra INDEXED BY validades_por_agente
  WHERE outra.agente_id = validades.agente_id
    AND (outra.not_after, outra.not_before, outra.certificado)
      < (validades.not_after, validades.not_before, validades.certificado))`

/** Undefined when there never was a certificate with the SHA-256 that the page is to start after. */
export function selectHostsByEnd(
  session: SqlSession,
  { after, limit, until }: EndPage,
): HostsByEnd | undefined {
  const start = after === undefined ? BEGINNING : findPlace(session, after)
  if (start === undefined) return undefined
  const sql = `SELECT agentes.*, certificados.sha256 AS lugar, ${IS_FIRST} AS primeiro
    FROM (SELECT certificado FROM validades INDEXED BY validades_por_fim
        WHERE (${IN_USE_PLACE}) > (@end, @begin, @owner, @seq) AND not_after <= @until
        ORDER BY ${IN_USE_PLACE} LIMIT @limit) AS wanted
      CROSS JOIN validades ON validades.certificado = wanted.certificado
      CROSS JOIN certificados ON certificados.seq = wanted.certificado
      CROSS JOIN agentes ON agentes.id = validades.agente_id
    ORDER BY validades.not_after, validades.not_before, validades.agente_id, validades.certificado`
  const untilMs = until?.getTime() ?? Number.MAX_SAFE_INTEGER
  const rows = session.all<AgentRow & { lugar: string; primeiro: 0 | 1 }>(sql, {
    ...start,
    until: untilMs,
    limit,
  })
  return {
    hosts: rows
      .filter(({ primeiro }) => primeiro === 1)
      .map((row) => ({ agent: toAgent(row), place: row.lugar })),
    last: rows.length < limit ? null : (rows.at(-1)?.lugar ?? null),
  }
}

/** The newest first. Undefined when there never was an agent with the id that the page is to start after. */
export function selectHostsByEnrolment(
  session: SqlSession,
  { after, limit }: Page,
): Agent[] | undefined {
  const place = 'SELECT created_at, id FROM agentes WHERE id = ?'
  const end = { created_at: Number.MAX_SAFE_INTEGER, id: '' }
  const start =
    after === undefined ? end : session.get<Pick<AgentRow, 'created_at' | 'id'>>(place, after)
  if (start === undefined) return undefined
  const sql = `SELECT * FROM agentes INDEXED BY agentes_por_matricula
    WHERE removed_at IS NULL AND (created_at, id) < (?, ?) ORDER BY created_at DESC, id DESC LIMIT ?`
  return session.all<AgentRow>(sql, start.created_at, start.id, limit).map(toAgent)
}

/** At most `limit`, in no order. */
export function selectLateIds(session: SqlSession, rule: LateRule, limit: number): AgentId[] {
  const sql = `SELECT DISTINCT agente_id FROM json_each(@ranges) CROSS JOIN validades INDEXED BY validades_por_fim
      ON not_after >= value ->> 'fromMs' AND not_after <= value ->> 'untilMs'
    WHERE ${LATE_FROM} <= @nowMs LIMIT @limit`
  const ranges = JSON.stringify(findLateRanges(session, rule, Number.MIN_SAFE_INTEGER))
  const named = { ...parametersOf(rule), ranges, limit }
  return session.all<{ agente_id: AgentId }>(sql, named).map(({ agente_id: id }) => id)
}

/** The same. */
export function selectRevokedIds(session: SqlSession, limit: number): AgentId[] {
  const sql = `SELECT id FROM agentes INDEXED BY agentes_por_estado
    WHERE revoked_at IS NOT NULL AND removed_at IS NULL LIMIT ?`
  return session.all<{ id: AgentId }>(sql, limit).map(({ id }) => id)
}

/** As triggers have counted. */
export function countAgents(session: SqlSession): {
  readonly live: number
  readonly revoked: number
} {
  const sql = `SELECT estado, total FROM contagens WHERE tabela = 'agentes'`
  const rows = session.all<{ estado: string; total: number }>(sql)
  const of = (state: string): number => rows.find(({ estado }) => estado === state)?.total ?? 0
  return { live: of('live'), revoked: of('revoked') }
}
