// When the vault was restored last, and from when: the log says it too, and may be archived. docs/protocol.md BKP-16.

import type { LastRestore } from '../../domain/decide-take-back.ts'
import type { Instant } from './instants.ts'
import type { SqlSession } from './sql-session.ts'

/** A step of migrations.ts: one row at most. */
export const LAST_RESTORE = `
CREATE TABLE ultima_restauracao (
  id INTEGER PRIMARY KEY CHECK (id = 1),
  restored_at INTEGER NOT NULL,
  backup_at INTEGER NOT NULL
) STRICT;
`

export function selectLastRestore(session: SqlSession): LastRestore | undefined {
  const sql = 'SELECT restored_at, backup_at FROM ultima_restauracao WHERE id = 1'
  const row = session.get<{ restored_at: Instant; backup_at: Instant }>(sql)
  return row && { at: new Date(row.restored_at), backupAt: new Date(row.backup_at) }
}

export function replaceLastRestore(session: SqlSession, { at, backupAt }: LastRestore): void {
  session.run(
    'INSERT OR REPLACE INTO ultima_restauracao (id, restored_at, backup_at) VALUES (1, ?, ?)',
    at.getTime(),
    backupAt.getTime(),
  )
}
