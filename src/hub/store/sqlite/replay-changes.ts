import { StoreError } from '../store-error.ts'
import type { ChangeRecord, RecordedTables } from './change-record.ts'
import type { Migration } from './migration.ts'
import type { SqlSession } from './sql-session.ts'
import { runTablesStep } from './tables-version.ts'

/**
 * Does to this database, inside its transaction, what a transaction did to the other one. Throws StoreError: `store_diverged` when
 * it does something else here: the two were not the same before; `store_newer` when a program that knows these migrations could not go on.
 */
export function replayChanges(
  session: SqlSession,
  { statements, tables }: ChangeRecord,
  migrations: readonly Migration[],
): void {
  if (tables !== undefined) {
    refuseUnreadable(tables, migrations.length)
    requireSame(tables.rowsChanged, runTablesStep(session, tables))
  }
  for (const { sql, parameters, rowsChanged } of statements) {
    requireSame(rowsChanged, session.repeat(sql, parameters))
  }
}

function requireSame(there: number, here: number): void {
  if (here === there) return
  throw new StoreError(
    'store_diverged',
    `the copy is not what it was copied from: a statement changed ${there} rows there and ${here} here`,
  )
}

function refuseUnreadable({ to, readableFrom }: RecordedTables, known: number): void {
  if (readableFrom <= known) return
  throw new StoreError(
    'store_newer',
    `another hub has brought the tables to format ${to}, which programs that know format ${readableFrom} can use; this one knows formats up to ${known}`,
    { hint: 'upgrade this hub to the version that the other one has' },
  )
}
