import Database from 'better-sqlite3-multiple-ciphers'
import { StoreError, type StoreErrorCode } from '../store-error.ts'

/** SQLite's result codes by what they mean to a caller; a missing code is a bug of the hub. */
const FAILURES: readonly (readonly [prefix: string, code: StoreErrorCode, message: string])[] = [
  ['SQLITE_CONSTRAINT', 'store_conflict', 'the write breaks a rule of the tables'],
  ['SQLITE_CORRUPT', 'store_corrupt', 'the database is damaged'],
  ['SQLITE_NOTADB', 'store_corrupt', 'the database is damaged'],
  ['SQLITE_FULL', 'store_unavailable', 'no space left for the database'],
  ['SQLITE_IOERR', 'store_unavailable', 'the database cannot be read or written'],
  ['SQLITE_NOMEM', 'store_unavailable', 'no memory left for the database'],
  ['SQLITE_BUSY', 'store_unavailable', 'the database is in use by another process'],
  ['SQLITE_CANTOPEN', 'store_unavailable', 'the database cannot be opened'],
  ['SQLITE_READONLY', 'store_unavailable', 'the database cannot be written'],
  ['SQLITE_PERM', 'store_unavailable', 'the database cannot be written'],
]

/** What went wrong in the terms of the port; an error that is not SQLite's stays as it is. */
export function describeSqliteFailure(error: unknown): unknown {
  if (!(error instanceof Database.SqliteError)) return error
  const { code } = error
  const failure = FAILURES.find(([prefix]) => code === prefix || code.startsWith(`${prefix}_`))
  return failure === undefined ? error : new StoreError(failure[1], failure[2], { cause: error })
}
