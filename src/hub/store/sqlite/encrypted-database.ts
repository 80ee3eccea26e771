// A connection to the encrypted file: every page, in the file and in its WAL, is ChaCha20-Poly1305 under the data key.

import { closeSync, constants, openSync, renameSync, rmSync, statSync } from 'node:fs'
import { dirname } from 'node:path'
import Database from 'better-sqlite3-multiple-ciphers'
import { errnoCode, invariant } from '../../../platform/errors.ts'
import { syncDirectory } from '../../../platform/files.ts'
import type { Secret } from '../../../platform/secret.ts'
import type { AuditEntry } from '../../domain/audit-entry.ts'
import { StoreError } from '../store-error.ts'
import { MIGRATIONS } from './migrations.ts'
import type { Migration } from './migration.ts'
import { type EntryRow, selectLastEntry, toEntry } from './entries.ts'
import { describeSqliteFailure } from './sqlite-failure.ts'
import { SqlSession } from './sql-session.ts'
import { areTablesUsable, nextTablesStep, runTablesStep } from './tables-version.ts'

export type Connection = Database

const DATA_KEY_BYTES = 32
/** "CART": tells our databases from other programs'. */
const APPLICATION_ID = 0x43_41_52_54
const FILE_BYTES_MIN = 512
const CACHE_KIB = 16 * 1024
// Each page that is not in memory is read and decrypted, which takes 11 us; an event of an agent among 100,000 needs ten of them. What
// all agents of a fleet need at every poll is about a sixtieth of its vault.
const CACHE_KIB_MAX = 128 * 1024
const CACHED_PART = 1 / 60
// An event changes a few scattered pages, each encrypted on its way into the WAL and again into the file: small pages, and
// a WAL of 16 MiB in which the pages that change all the time are copied once, make that half as dear.
const PAGE_BYTES = 2048
export const CHECKPOINT_PAGES = 8192
const BUSY_TIMEOUT_MS = 5000

/** Makes an empty database with all tables: whole under its name, or not there at all. */
export async function createDatabase(path: string, dataKey: Secret<Buffer>): Promise<void> {
  if (statSync(path, { throwIfNoEntry: false }) !== undefined) {
    throw new StoreError('store_exists', `${path} exists already`)
  }
  const staged = `${path}.new`
  for (const suffix of ['', '-wal', '-shm', '-journal']) rmSync(staged + suffix, { force: true })
  // SQLite gives its own files the mode of the database, so that one has to be right from the start.
  const { O_CREAT, O_EXCL, O_RDWR } = constants
  closeSync(openSync(staged, O_RDWR | O_CREAT | O_EXCL, 0o600))
  namingFile(path, () => {
    const connection = connect(staged, dataKey)
    try {
      connection.pragma(`page_size = ${PAGE_BYTES}`)
      useWriteAheadLog(connection)
      migrate(connection, 0, MIGRATIONS)
      // Only the file is renamed, so the file must hold everything; a close that cannot copy the log into it fails silently.
      connection.pragma('wal_checkpoint(TRUNCATE)')
    } finally {
      connection.close()
    }
    if (statSync(`${staged}-wal`, { throwIfNoEntry: false }) !== undefined) {
      throw new StoreError('store_unavailable', 'the new database could not be written whole')
    }
  })
  renameSync(staged, path)
  await syncDirectory(dirname(path))
}

/**
 * Encrypts every page of a database that nobody else has open under another key, in place: whatever stops it leaves a file that is
 * of no use, so it is for a copy. Throws StoreError.
 */
export function reencryptDatabase(
  path: string,
  oldKey: Secret<Buffer>,
  newKey: Secret<Buffer>,
): void {
  namingFile(path, () => {
    const connection = connect(path, oldKey)
    try {
      // The cipher changes no key while there is a write-ahead log.
      const mode = connection.pragma('journal_mode = DELETE', { simple: true })
      invariant(mode === 'delete', 'the database has no write-ahead log')
      connection.pragma(`rekey = "raw:${newKey.reveal().toString('hex')}"`)
      useWriteAheadLog(connection)
      connection.pragma('wal_checkpoint(TRUNCATE)')
    } finally {
      connection.close()
    }
  })
}

export interface WriterOptions {
  /** What this program knows. */
  readonly migrations?: readonly Migration[] | undefined
  /** The tables stay as they are: others have them too, and bring them forward together. */
  readonly isShared?: boolean
}

/** The writing connection to an existing database, brought to the newest version of the tables unless others share it. */
export function openWriter(
  path: string,
  dataKey: Secret<Buffer>,
  { migrations = MIGRATIONS, isShared = false }: WriterOptions = {},
): Connection {
  const version = inspectDatabase(path, dataKey, migrations)
  return namingFile(path, () => {
    const connection = connect(path, dataKey)
    try {
      connection.pragma(`cache_size = -${cacheKibFor(statSync(path).size)}`)
      useWriteAheadLog(connection)
      if (!isShared) migrate(connection, version, migrations)
      return connection
    } catch (error) {
      connection.close()
      throw error
    }
  })
}

/** A connection that sees only what is committed and cannot write. */
export function openReader(path: string, dataKey: Secret<Buffer>): Connection {
  return namingFile(path, () => {
    const connection = connect(path, dataKey)
    connection.pragma('query_only = ON')
    return connection
  })
}

/** The last entry of the audit log, and the one with this number, read without changing a byte of the database. */
export function inspectAuditLog(
  path: string,
  dataKey: Secret<Buffer>,
  seq: number,
): { readonly last: AuditEntry | undefined; readonly atSeq: AuditEntry | undefined } {
  return inspect(path, dataKey, (connection) => {
    const session = new SqlSession(connection)
    const atSeq = session.get<EntryRow>('SELECT * FROM eventos WHERE seq = ?', seq)
    return { last: selectLastEntry(session), atSeq: atSeq && toEntry(atSeq) }
  })
}

/** Reads every page, which takes as long as the database is large. Throws StoreError when one is damaged; changes nothing. */
export function checkEveryPage(path: string, dataKey: Secret<Buffer>): void {
  inspect(path, dataKey, (connection) => {
    if (connection.pragma('quick_check(1)', { simple: true }) !== 'ok') {
      throw new StoreError('store_corrupt', 'the database is damaged')
    }
  })
}

/** The version of the tables. Reads the schema and both ends of the audit log, not every page. */
function inspectDatabase(
  path: string,
  dataKey: Secret<Buffer>,
  migrations: readonly Migration[],
): number {
  const look = (connection: Connection, version: number): number => {
    connection.prepare('SELECT * FROM eventos ORDER BY seq LIMIT 1').all()
    connection.prepare('SELECT * FROM eventos ORDER BY seq DESC LIMIT 1').all()
    return version
  }
  return inspect(path, dataKey, look, migrations)
}

/** A look at the file that changes nothing: a database that cannot be used is left exactly as it is. */
export function inspect<T>(
  path: string,
  dataKey: Secret<Buffer>,
  look: (connection: Connection, version: number) => T,
  migrations: readonly Migration[] = MIGRATIONS,
): T {
  requireDatabaseFile(path)
  return namingFile(path, () => {
    // A connection that could write would empty the WAL into the file when it closes.
    const connection = connect(path, dataKey, { readonly: true })
    try {
      const version = readNumber(connection, 'user_version')
      if (readNumber(connection, 'application_id') !== APPLICATION_ID || version < 1) {
        throw new StoreError('store_corrupt', `${path} is not a database of this program`)
      }
      if (!areTablesUsable(new SqlSession(connection), migrations)) {
        throw newerTables(path, version, migrations.length)
      }
      return look(connection, version)
    } finally {
      connection.close()
    }
  })
}

function requireDatabaseFile(path: string): void {
  let stats
  try {
    stats = statSync(path)
  } catch (error) {
    if (errnoCode(error) === 'ENOENT') {
      throw new StoreError('store_missing', `database missing: ${path}`, { cause: error })
    }
    throw new StoreError('store_unavailable', `cannot read ${path}`, { cause: error })
  }
  if (!stats.isFile()) throw new StoreError('store_corrupt', `${path} is not a file`)
  if (stats.size < FILE_BYTES_MIN) {
    throw new StoreError('store_corrupt', `${path} is damaged: it has only ${stats.size} bytes`)
  }
}

function newerTables(path: string, version: number, known: number): StoreError {
  return new StoreError(
    'store_newer',
    `${path} has format ${version}, this program knows formats up to ${known}`,
    { hint: 'use the newer version of the program that wrote it' },
  )
}

function connect(
  path: string,
  dataKey: Secret<Buffer>,
  options: { readonly?: boolean } = {},
): Connection {
  const key = dataKey.reveal()
  invariant(key.length === DATA_KEY_BYTES, 'the data key has 256 bits')
  const connection = new Database(path, {
    fileMustExist: true,
    timeout: BUSY_TIMEOUT_MS,
    ...options,
  })
  try {
    prepareConnection(connection, key)
    return connection
  } catch (error) {
    connection.close()
    throw error
  }
}

function prepareConnection(connection: Connection, key: Buffer): void {
  connection.pragma("cipher = 'chacha20'")
  connection.pragma(`key = "raw:${key.toString('hex')}"`)
  // Sorting and savepoints must not spill plaintext into temporary files.
  connection.pragma('temp_store = MEMORY')
  connection.pragma(`cache_size = -${CACHE_KIB}`)
  connection.pragma('trusted_schema = OFF')
  connection.pragma('cell_size_check = ON')
  connection.pragma('foreign_keys = ON')
  // Makes REPLACE run the triggers that keep the audit log append-only.
  connection.pragma('recursive_triggers = ON')
}

/** Of the connection that nearly all is read and written through. */
export function cacheKibFor(databaseBytes: number): number {
  const wantedKib = Math.ceil((databaseBytes * CACHED_PART) / 1024)
  return Math.min(Math.max(wantedKib, CACHE_KIB), CACHE_KIB_MAX)
}

function useWriteAheadLog(connection: Connection): void {
  const mode = connection.pragma('journal_mode = WAL', { simple: true })
  invariant(mode === 'wal', 'the database has a write-ahead log')
  // Every commit is on the disk before it is acknowledged.
  connection.pragma('synchronous = FULL')
  connection.pragma(`wal_autocheckpoint = ${CHECKPOINT_PAGES}`)
}

function migrate(connection: Connection, version: number, migrations: readonly Migration[]): void {
  const step = nextTablesStep(version, migrations)
  if (step === undefined) return
  connection.transaction(() => {
    runTablesStep(new SqlSession(connection), step)
    connection.pragma(`application_id = ${APPLICATION_ID}`)
  })()
}

function readNumber(connection: Connection, pragma: string): number {
  return Number(connection.pragma(pragma, { simple: true }))
}

export function namingFile<T>(path: string, work: () => T): T {
  try {
    return work()
  } catch (error) {
    throw nameFile(path, error)
  }
}

/** SQLite's messages do not say which file is meant. An error that is none of a database stays as it is. */
export function nameFile(path: string, error: unknown): unknown {
  const failure = describeSqliteFailure(error)
  if (!(failure instanceof StoreError) || failure.message.includes(path)) return failure
  return new StoreError(failure.code, `cannot use ${path}: ${failure.message}`, {
    cause: failure.cause,
    ...(failure.hint === undefined ? {} : { hint: failure.hint }),
  })
}
