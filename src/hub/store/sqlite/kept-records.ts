// The newest records of the journal, kept in the database that ran them: a standby keeps the last ones, for a hub that was killed before it
// committed what the standby has; a hub that goes on alone keeps what its standby lacks. docs/protocol.md STB-7, STB-9.

import type { JournalRecord } from '../journal.ts'
import type { SqlSession } from './sql-session.ts'

/** A step of migrations.ts. `bytes` is the sum of all sizes up to there, since the first one that is here. */
export const KEPT_RECORDS = `
CREATE TABLE diario_registros (
  numero INTEGER PRIMARY KEY,
  selado BLOB NOT NULL,
  bytes INTEGER NOT NULL
) STRICT;
`

const READ_MAX = 64
const READ_BYTES = 4 * 1024 * 1024

/** Within the transaction of the record. Of older records as many stay as fit; with 0 bytes none, not even this one. */
export function keepRecord(
  session: SqlSession,
  { number, sealed }: JournalRecord,
  bytesMax: number,
): void {
  session.unrecorded(() => {
    if (bytesMax === 0) {
      session.runQuietly('DELETE FROM diario_registros')
      return
    }
    // What somebody kept of another journal, or of what this one took back.
    session.runQuietly('DELETE FROM diario_registros WHERE numero >= ?', number)
    const sql = 'SELECT numero, bytes FROM diario_registros ORDER BY numero DESC LIMIT 1'
    const last = session.get<{ numero: number; bytes: number }>(sql)
    const isNext = last?.numero === number - 1
    if (!isNext) session.runQuietly('DELETE FROM diario_registros')
    const bytes = (isNext ? last.bytes : 0) + sealed.length
    session.runQuietly(
      'INSERT INTO diario_registros (numero, selado, bytes) VALUES (?, ?, ?)',
      number,
      sealed,
      bytes,
    )
    session.runQuietly(
      'DELETE FROM diario_registros WHERE bytes <= ? AND numero < ?',
      bytes - bytesMax,
      number,
    )
  })
}

/** After this number, oldest first: some, and none when the first of them is not there. */
export function selectKeptRecords(session: SqlSession, after: number): readonly JournalRecord[] {
  const rows = session.all<{ numero: number; selado: Uint8Array }>(
    'SELECT numero, selado FROM diario_registros WHERE numero > ? ORDER BY numero LIMIT ?',
    after,
    READ_MAX,
  )
  const records: JournalRecord[] = []
  let bytes = 0
  for (const { numero: number, selado } of rows) {
    if (number !== after + records.length + 1 || bytes > READ_BYTES) break
    records.push({ number, sealed: Buffer.from(selado) })
    bytes += selado.length
  }
  return records
}
