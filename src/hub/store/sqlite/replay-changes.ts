import { StoreError } from '../store-error.ts'
import type { ChangeRecord } from './change-record.ts'
import type { SqlSession } from './sql-session.ts'

/**
 * Does to this database, inside its transaction, what a transaction did to the other one. Throws StoreError `store_diverged` when
 * it does something else here: the two were not the same before.
 */
export function replayChanges(session: SqlSession, { statements }: ChangeRecord): void {
  for (const { sql, parameters, rowsChanged } of statements) {
    const here = session.repeat(sql, parameters)
    if (here === rowsChanged) continue
    throw new StoreError(
      'store_diverged',
      `the copy is not what it was copied from: a statement changed ${rowsChanged} rows there and ${here} here`,
    )
  }
}
