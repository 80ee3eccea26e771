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

export function selectLastEntry(session: SqlSession): AuditEntry | undefined {
  const row = session.get<EntryRow>('SELECT * FROM eventos ORDER BY seq DESC LIMIT 1')
  return row && toEntry(row)
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

/** Oldest first, at most `limit` entries. */
export function selectEntries(session: SqlSession, filter: EntryFilter): AuditEntry[] {
  return select(session, filter, 'ASC')
}

/** As records (audit/record.ts): a log of ten million is read in half a minute, and every value for each of them counts. */
export function selectRecords(session: SqlSession, afterSeq: number, limit: number): string[] {
  return session.column<string>(SELECT_RECORDS, afterSeq, limit)
}

const netstring = (column: string): string => `octet_length(${column}) || ':' || ${column} || ','`
const orNull = (column: string): string => `ifnull(${netstring(column)}, '-,')`
const SELECT_RECORDS = `SELECT '13:svc-evento-v1,' || ${[
  netstring('seq'),
  netstring('id'),
  orNull('agente_id'),
  netstring('tipo_evento'),
  orNull('entrega_id'),
  orNull('request_id'),
  netstring('payload'),
  netstring('timestamp'),
  netstring('hash_anterior'),
  netstring('hash_atual'),
].join(' || ')} FROM eventos WHERE seq > ? ORDER BY seq LIMIT ?`

/** Oldest first, the newest `count`. */
export function selectLastEntries(
  session: SqlSession,
  filter: Partial<Omit<EntryFilter, 'limit'>>,
  count: number,
): AuditEntry[] {
  return select(session, { afterSeq: 0, ...filter, limit: count }, 'DESC').reverse()
}

/** Without statistics SQLite may walk the whole log in order of seq; what selects a type has an index that it must use. */
function select(
  session: SqlSession,
  { afterSeq, beforeSeq, limit, eventType }: EntryFilter,
  direction: 'ASC' | 'DESC',
): AuditEntry[] {
  invariant(Number.isSafeInteger(limit) && limit >= 0, 'a page of entries has a size')
  const conditions = ['seq > ?']
  const parameters: Parameter[] = [afterSeq]
  if (beforeSeq !== undefined) {
    conditions.push('seq < ?')
    parameters.push(beforeSeq)
  }
  if (eventType !== undefined) {
    conditions.push('tipo_evento = ?')
    parameters.push(eventType)
  }
  const index = eventType === undefined ? '' : 'INDEXED BY eventos_por_tipo'
  const rows = session.all<EntryRow>(
    `SELECT * FROM eventos ${index} WHERE ${conditions.join(' AND ')}
     ORDER BY seq ${direction} LIMIT ?`,
    ...parameters,
    limit,
  )
  return rows.map(toEntry)
}

/** Timestamps never decrease, so every later entry is younger too. */
export function selectFirstSeqSince(session: SqlSession, since: Date): number | undefined {
  return session.get<{ seq: number }>(
    'SELECT seq FROM eventos WHERE timestamp >= ? ORDER BY timestamp, seq LIMIT 1',
    formatTimestamp(since),
  )?.seq
}

export function selectEntriesOf(session: SqlSession, seqs: readonly number[]): AuditEntry[] {
  const sql = `SELECT eventos.* FROM json_each(?) AS wanted
    CROSS JOIN eventos ON eventos.seq = wanted.value`
  return session.all<EntryRow>(sql, JSON.stringify(seqs)).map(toEntry)
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
