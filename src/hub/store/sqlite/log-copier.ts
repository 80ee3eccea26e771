// Copies the write-ahead log into the database file, as SQLite does by itself within a commit when the log has grown long, but waits for the
// disk off the event loop: it syncs the log, lets SQLite copy without a sync, and syncs the file. Nobody may write meanwhile, since
// SQLite takes the pages for copied as soon as it has written them, and the next writer overwrites the log.

import { type FileHandle, open } from 'node:fs/promises'
import { errnoCode } from '../../../platform/errors.ts'
import { StoreError } from '../store-error.ts'
import type { Connection } from './encrypted-database.ts'
import { describeSqliteFailure } from './sqlite-failure.ts'

export interface LogCopierOptions {
  readonly connection: Pick<Connection, 'pragma'>
  readonly logPath: string
  /** Of the database, which stays open: to close it would give up SQLite's own locks. */
  readonly openFile: () => Promise<Pick<FileHandle, 'datasync'>>
  /** Ends the process at once. */
  readonly die?: () => void
}

/** Between two transactions, and none begins until it is done. */
export async function copyLogIntoFile(options: LogCopierOptions): Promise<void> {
  const { connection, logPath, openFile, die = killThisProcess } = options
  let file
  try {
    file = await openFile()
    await syncLog(logPath)
    copyWithoutSync(connection)
  } catch (error) {
    const isOfDisk = errnoCode(error) !== undefined
    // What is committed stays in the log, from where a later commit copies it.
    if (isOfDisk || describeSqliteFailure(error) instanceof StoreError) return
    throw error
  }
  try {
    await file.datasync()
  } catch {
    // The kernel may have dropped pages that SQLite takes for copied. The log still has them, as long as nobody writes or closes
    // the database: the next start reads it from its beginning.
    die()
  }
}

async function syncLog(path: string): Promise<void> {
  const log = await open(path, 'r')
  try {
    await log.datasync()
  } finally {
    await log.close()
  }
}

function copyWithoutSync(connection: Pick<Connection, 'pragma'>): void {
  connection.pragma('synchronous = OFF')
  try {
    connection.pragma('wal_checkpoint(PASSIVE)')
  } finally {
    connection.pragma('synchronous = FULL')
  }
}

function killThisProcess(): void {
  process.kill(process.pid, 'SIGKILL')
}
