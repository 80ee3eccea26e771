import { formatTimestamp } from '../../../audit/hash-chain.ts'
import { Secret } from '../../../platform/secret.ts'
import type { LogSegment } from '../../domain/log-segment.ts'
import type { SqlSession } from './sql-session.ts'

interface SegmentRow {
  ate: number
  desde: number
  desde_timestamp: string
  ate_timestamp: string
  hash_anterior: string
  hash_atual: string
  arquivo: string
  bytes: number
  created_at: number
}

export function selectFirstSeq(session: SqlSession): number | undefined {
  return session.get<{ seq: number }>('SELECT seq FROM eventos WHERE seq > 0 ORDER BY seq LIMIT 1')
    ?.seq
}

export function selectSegments(session: SqlSession, fromSeq: number, limit: number): LogSegment[] {
  const sql = 'SELECT * FROM segmentos WHERE ate >= ? ORDER BY ate LIMIT ?'
  return session.all<SegmentRow>(sql, fromSeq, limit).map(toSegment)
}

export function selectSegmentSince(session: SqlSession, since: Date): LogSegment | undefined {
  const sql = 'SELECT * FROM segmentos WHERE ate_timestamp >= ? ORDER BY ate_timestamp, ate LIMIT 1'
  const row = session.get<SegmentRow>(sql, formatTimestamp(since))
  return row && toSegment(row)
}

export function selectLastSegment(session: SqlSession): LogSegment | undefined {
  const row = session.get<SegmentRow>(
    'SELECT * FROM segmentos WHERE ate > 0 ORDER BY ate DESC LIMIT 1',
  )
  return row && toSegment(row)
}

export function selectArchiveKey(session: SqlSession): Secret<Buffer> | undefined {
  const row = session.get<{ chave: Buffer }>('SELECT chave FROM segmentos_chave WHERE id = 1')
  return row && new Secret(row.chave)
}

export function insertArchiveKey(session: SqlSession, key: Secret<Buffer>): void {
  session.runQuietly('INSERT INTO segmentos_chave VALUES (1, ?)', key.reveal())
}

export function insertSegment(session: SqlSession, segment: LogSegment): void {
  session.runQuietly(
    `INSERT INTO segmentos (ate, desde, desde_timestamp, ate_timestamp, hash_anterior, hash_atual,
       arquivo, bytes, created_at) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?)`,
    segment.last,
    segment.first,
    segment.firstTimestamp,
    segment.lastTimestamp,
    segment.previousHash,
    segment.hash,
    segment.file,
    segment.bytes,
    segment.createdAt.getTime(),
  )
}

/** The triggers refuse to remove any other entry. */
export function deleteArchived(session: SqlSession, limit: number): number {
  const sql = `DELETE FROM eventos WHERE seq IN (SELECT seq FROM eventos
    WHERE seq <= (SELECT max(ate) FROM segmentos) ORDER BY seq LIMIT ?)`
  return session.runQuietly(sql, limit)
}

function toSegment(row: SegmentRow): LogSegment {
  return {
    first: row.desde,
    last: row.ate,
    firstTimestamp: row.desde_timestamp,
    lastTimestamp: row.ate_timestamp,
    previousHash: row.hash_anterior,
    hash: row.hash_atual,
    file: row.arquivo,
    bytes: row.bytes,
    createdAt: new Date(row.created_at),
  }
}
