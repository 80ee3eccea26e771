// The audit log as it was chained.

import type { ChainEnd } from '../../../audit/chain-entries.ts'
import { formatTimestamp } from '../../../audit/hash-chain.ts'
import { invariant } from '../../../platform/errors.ts'
import type { AuditEntry } from '../../domain/audit-entry.ts'
import type { EntryFilter } from '../store.ts'
import type { Parameter, SqlSession } from './sql-session.ts'

const COLUMNS = [
  'seq',
  'id',
  'agente_id',
  'tipo_evento',
  'payload',
  'entrega_id',
  'request_id',
  'timestamp',
  'hash_anterior',
  'hash_atual',
] as const

export function selectChainEnd(session: SqlSession): ChainEnd | undefined {
  return session.get<ChainEnd>(
    'SELECT seq, timestamp, hash_atual AS hash FROM eventos ORDER BY seq DESC LIMIT 1',
  )
}

const INTO = `INSERT INTO eventos (${COLUMNS.join(', ')})`
const INSERT_ONE = `${INTO} VALUES (${COLUMNS.map(() => '?').join(', ')})`
const INSERT_MANY = `${INTO} SELECT ${COLUMNS.map((name) => `value ->> '${name}'`).join(', ')} FROM json_each(?)`
/** To parse the JSON of one statement for many costs more than so many statements. */
const FEW = 4

export function insertEntries(session: SqlSession, entries: readonly AuditEntry[]): void {
  if (entries.length > FEW) {
    session.runQuietly(INSERT_MANY, JSON.stringify(entries.map(fromEntry)))
    return
  }
  for (const entry of entries) {
    const row = fromEntry(entry)
    session.runQuietly(INSERT_ONE, ...COLUMNS.map((name) => row[name]))
  }
}

export type EntrySelection = Omit<EntryFilter, 'afterSeq' | 'limit'>

/** Oldest first, at most `limit` entries after `afterSeq`. */
export function selectEntries(session: SqlSession, filter: EntryFilter): AuditEntry[] {
  const { afterSeq, limit } = filter
  return select(session, filter, { afterSeq, direction: 'ASC', limit })
}

/** As lines (audit/chain-line.ts): a log of ten million is read in half a minute, and every value for each of them counts. */
export function selectChain(session: SqlSession, afterSeq: number, limit: number): string[] {
  return session.column<string>(
    `SELECT seq || ' ' || hash_anterior || ' ' || timestamp || ' ' || hash_atual || ' ' || payload
     FROM eventos WHERE seq > ? ORDER BY seq LIMIT ?`,
    afterSeq,
    limit,
  )
}

/** Oldest first, the newest `count`. */
export function selectLastEntries(
  session: SqlSession,
  selection: EntrySelection,
  count: number,
  beforeSeq?: number,
): AuditEntry[] {
  return select(session, selection, { beforeSeq, direction: 'DESC', limit: count }).reverse()
}

interface EntryRange {
  readonly afterSeq?: number
  readonly beforeSeq?: number | undefined
  readonly direction: 'ASC' | 'DESC'
  readonly limit: number
}

function select(
  session: SqlSession,
  selection: EntrySelection,
  { afterSeq = 0, beforeSeq, direction, limit }: EntryRange,
): AuditEntry[] {
  invariant(Number.isSafeInteger(limit) && limit >= 0, 'a page of entries has a size')
  const startSeq = findSeqBefore(session, selection.since)
  if (startSeq === undefined) return []
  const conditions = ['seq > ?']
  const parameters: Parameter[] = [Math.max(afterSeq, startSeq)]
  if (beforeSeq !== undefined) {
    conditions.push('seq < ?')
    parameters.push(beforeSeq)
  }
  if (selection.agentId !== undefined) {
    conditions.push('agente_id = ?')
    parameters.push(selection.agentId)
  }
  if (selection.eventType !== undefined) {
    conditions.push('tipo_evento = ?')
    parameters.push(selection.eventType)
  }
  const rows = session.all<EntryRow>(
    `SELECT * FROM eventos ${chooseIndex(selection)} WHERE ${conditions.join(' AND ')}
     ORDER BY seq ${direction} LIMIT ?`,
    ...parameters,
    limit,
  )
  return rows.map(toEntry)
}

/**
 * An index for agent and type together would spare an operator's look at one agent's entries, and cost every event of
 * every agent a page (a sixth of all events a second).
 *
 * Without statistics SQLite may walk the whole log in order of seq; each selection has an index that it must use.
 */
function chooseIndex(selection: EntrySelection): string {
  const byAgent = selection.agentId !== undefined
  const byType = selection.eventType !== undefined
  if (byAgent) return 'INDEXED BY eventos_por_agente'
  if (byType) return 'INDEXED BY eventos_por_tipo'
  return ''
}

/** Timestamps never decrease, so "since" is "after this seq"; undefined when no entry is that young. */
function findSeqBefore(session: SqlSession, since: Date | undefined): number | undefined {
  if (since === undefined) return 0
  const row = session.get<{ seq: number }>(
    'SELECT seq FROM eventos WHERE timestamp >= ? ORDER BY timestamp, seq LIMIT 1',
    formatTimestamp(since),
  )
  return row === undefined ? undefined : row.seq - 1
}

export interface EntryRow {
  seq: number
  id: AuditEntry['id']
  agente_id: AuditEntry['agentId']
  tipo_evento: string
  payload: string
  entrega_id: AuditEntry['deliveryId']
  request_id: string | null
  timestamp: string
  hash_anterior: string
  hash_atual: string
}

export function toEntry(row: EntryRow): AuditEntry {
  return {
    seq: row.seq,
    id: row.id,
    agentId: row.agente_id,
    eventType: row.tipo_evento,
    payloadText: row.payload,
    deliveryId: row.entrega_id,
    requestId: row.request_id,
    timestamp: row.timestamp,
    previousHash: row.hash_anterior,
    hash: row.hash_atual,
  }
}

export function fromEntry(entry: AuditEntry): EntryRow {
  return {
    seq: entry.seq,
    id: entry.id,
    agente_id: entry.agentId,
    tipo_evento: entry.eventType,
    payload: entry.payloadText,
    entrega_id: entry.deliveryId,
    request_id: entry.requestId,
    timestamp: entry.timestamp,
    hash_anterior: entry.previousHash,
    hash_atual: entry.hash,
  }
}
