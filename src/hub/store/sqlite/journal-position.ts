// How far this database has followed the journal that it shares with others: changed in the very transaction that follows.

import type { JournalPosition } from '../journal.ts'
import { isSamePosition, NO_JOURNAL } from '../record-seal.ts'
import type { SqlSession } from './sql-session.ts'

/** A step of migrations.ts: one row. */
export const JOURNAL_POSITION = `
CREATE TABLE diario (
  id INTEGER PRIMARY KEY CHECK (id = 1),
  numero INTEGER NOT NULL CHECK (numero >= 0),
  resumo BLOB NOT NULL CHECK (length(resumo) = 32)
) STRICT;
INSERT INTO diario (id, numero, resumo) VALUES (1, 0, zeroblob(32));
`

export function selectJournalPosition(session: SqlSession): JournalPosition {
  const row = session.get<{ numero: number; resumo: Uint8Array }>(
    'SELECT numero, resumo FROM diario WHERE id = 1',
  )
  return row === undefined ? NO_JOURNAL : { number: row.numero, hash: Buffer.from(row.resumo) }
}

/** Not part of what others follow: each of them notes its own. */
export function noteJournalPosition(session: SqlSession, { number, hash }: JournalPosition): void {
  session.unrecorded(() =>
    session.runQuietly('UPDATE diario SET numero = ?, resumo = ? WHERE id = 1', number, hash),
  )
}

/** What it writes without the journal, nobody else has: it must not take records of the journal for what comes next. */
export function leaveJournal(session: SqlSession): void {
  if (!isSamePosition(selectJournalPosition(session), NO_JOURNAL)) {
    noteJournalPosition(session, NO_JOURNAL)
  }
}
