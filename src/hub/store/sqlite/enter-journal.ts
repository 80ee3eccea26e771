// A database at rest takes its place in a journal: what follows is record by record what all others do, too.

import type { Secret } from '../../../platform/secret.ts'
import type { JournalPosition } from '../journal.ts'
import { inspect, namingFile, openWriter } from './encrypted-database.ts'
import { NO_JOURNAL } from '../record-seal.ts'
import { noteJournalPosition, selectJournalPosition } from './journal-position.ts'
import { SqlSession } from './sql-session.ts'

/**
 * For a copy of a vault that nobody has open, which the first image is made of: the vault itself may go on without the journal until the
 * copy takes its place. Throws StoreError.
 */
export function enterJournal(
  path: string,
  dataKey: Secret<Buffer>,
  position: JournalPosition,
): void {
  const connection = openWriter(path, dataKey)
  try {
    namingFile(path, () => noteJournalPosition(new SqlSession(connection), position))
  } finally {
    connection.close()
  }
}

/** Where a database is, read without changing a byte of it. */
export function inspectJournalPosition(path: string, dataKey: Secret<Buffer>): JournalPosition {
  return inspect(path, dataKey, (connection) => {
    const session = new SqlSession(connection)
    const isThere = session.get(`SELECT 1 FROM sqlite_schema WHERE name = 'diario'`) !== undefined
    // A vault of an earlier version shares nothing.
    return isThere ? selectJournalPosition(session) : NO_JOURNAL
  })
}
