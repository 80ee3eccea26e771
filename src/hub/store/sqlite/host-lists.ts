// Hosts as an operator lists them: by a part of their names, by the first end of their certificates, by when they enrolled.

import type { AgentId } from '../../../protocol/identifiers.ts'
import type { EndPage, HostPage, NameSearch, NamesFound, SourcePage } from '../list-store.ts'
import type { LateRule } from '../store.ts'
import { isOneOf, namesOf } from './agent-labels.ts'
import { type AgentRow, toAgent } from './agent-rows.ts'
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

/** The certificate that a host has its place by. */
const firstOf = (id: string): string => `(SELECT sha256 FROM certificados WHERE seq =
    (SELECT certificado FROM validades INDEXED BY validades_por_agente
      WHERE agente_id = ${id} ORDER BY not_after, not_before, certificado LIMIT 1))`

const AFTER_ALL_IDS = '\u{10ffff}'

const BY_END = `FROM agentes INDEXED BY agentes_por_primeiro_fim
  WHERE primeiro_fim IS NOT NULL AND (primeiro_fim, id) > (?, ?)`
const LAST_BY_END = `SELECT primeiro_fim AS endMs, id, ${firstOf('id')} AS place ${BY_END}
  AND primeiro_fim <= ? ORDER BY primeiro_fim, id LIMIT 1 OFFSET ?`

/** Undefined when there never was a certificate with the SHA-256 that the page is to start after. */
export function selectHostsByEnd(
  session: SqlSession,
  { after, limit, until, source }: EndPage,
): HostPage | undefined {
  const sql = 'SELECT not_after AS endMs, agente_id AS id FROM certificados WHERE sha256 = ?'
  const start =
    after === undefined
      ? { endMs: Number.MIN_SAFE_INTEGER, id: '' }
      : session.get<{ endMs: number; id: string }>(sql, after)
  if (start === undefined) return undefined
  const untilMs = until?.getTime() ?? Number.MAX_SAFE_INTEGER
  const last = session.get<{ endMs: number; id: string; place: string }>(
    LAST_BY_END,
    start.endMs,
    start.id,
    untilMs,
    limit - 1,
  )
  const [isOne, parameters] = isOneOf(source)
  const rows = session.all<AgentRow & { place: string }>(
    `SELECT agentes.*, ${firstOf('agentes.id')} AS place ${BY_END}
      AND (primeiro_fim, id) <= (?, ?) AND ${isOne} ORDER BY primeiro_fim, id`,
    start.endMs,
    start.id,
    last?.endMs ?? untilMs,
    last?.id ?? AFTER_ALL_IDS,
    ...parameters,
  )
  return {
    hosts: rows.map((row) => ({ agent: toAgent(row), place: row.place })),
    last: last?.place ?? null,
  }
}

const BY_ENROLMENT = `FROM agentes INDEXED BY agentes_por_matricula
  WHERE removed_at IS NULL AND (created_at, id) < (?, ?)`

/** The newest first. Undefined when there never was an agent with the id that the page is to start after. */
export function selectHostsByEnrolment(
  session: SqlSession,
  { after, limit, source }: SourcePage,
): HostPage | undefined {
  type Place = Pick<AgentRow, 'created_at' | 'id'>
  const start =
    after === undefined
      ? { created_at: Number.MAX_SAFE_INTEGER, id: '' }
      : session.get<Place>('SELECT created_at, id FROM agentes WHERE id = ?', after)
  if (start === undefined) return undefined
  const range = [start.created_at, start.id] as const
  const last = session.get<Place>(
    `SELECT created_at, id ${BY_ENROLMENT} ORDER BY created_at DESC, id DESC LIMIT 1 OFFSET ?`,
    ...range,
    limit - 1,
  )
  const [isOne, parameters] = isOneOf(source)
  const rows = session.all<AgentRow>(
    `SELECT * ${BY_ENROLMENT} AND (created_at, id) >= (?, ?) AND ${isOne}
      ORDER BY created_at DESC, id DESC`,
    ...range,
    last?.created_at ?? Number.MIN_SAFE_INTEGER,
    last?.id ?? '',
    ...parameters,
  )
  return {
    hosts: rows.map((row) => ({ agent: toAgent(row), place: row.id })),
    last: last?.id ?? null,
  }
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
