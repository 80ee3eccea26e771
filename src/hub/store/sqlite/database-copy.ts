// The database file as it is at one moment, page by page, while others go on writing. First everything that is in the WAL
// goes into the file; then a transaction is held open that reads. Until it ends SQLite keeps new pages in the WAL and
// changes no byte of the file, so the file can be read as it lies there, encrypted. docs/protocol.md BKP-4.

import { type FileHandle, open, stat } from 'node:fs/promises'
import { errnoCode, invariant } from '../../../platform/errors.ts'
import type { Secret } from '../../../platform/secret.ts'
import type { AuditEntry } from '../../domain/audit-entry.ts'
import type { JournalPosition } from '../journal.ts'
import type { StoreCopy } from '../store-copy.ts'
import { StoreError } from '../store-error.ts'
import { type Connection, openReader } from './encrypted-database.ts'
import { selectLastEntry } from './entries.ts'
import { selectLogTree } from './log-tree.ts'
import { selectJournalPosition } from './journal-position.ts'
import { SqlSession } from './sql-session.ts'

/** Pages of SQLite in the `chacha20` form of SQLite3 Multiple Ciphers, under the data key. */
export const SQLITE_COPY_KIND = 'sqlite-chacha20'

interface HeldMoment {
  readonly version: number
  readonly bytes: number
  readonly last: AuditEntry | undefined
  readonly checkpoint: string | undefined
  readonly position: JournalPosition
  release(): void
}

export class DatabaseCopies {
  readonly #path: string
  readonly #dataKey: Secret<Buffer>
  readonly #writer: Connection
  // Opened once and closed last: a process that closes a descriptor of a file gives up all its locks on
  // that file, those of SQLite too.
  #file: Promise<FileHandle> | undefined
  #open: StoreCopy | undefined
  #givesWay = false
  #isHeld = false

  constructor(path: string, dataKey: Secret<Buffer>, writer: Connection) {
    this.#path = path
    this.#dataKey = dataKey
    this.#writer = writer
  }

  /** Nobody but this closes it. */
  async openFile(): Promise<FileHandle> {
    this.#file ??= open(this.#path, 'r')
    try {
      return await this.#file
    } catch (error) {
      this.#file = undefined
      throw error
    }
  }

  /** `atRest` runs what it is given between two transactions. */
  async open(atRest: <T>(work: () => T) => Promise<T>, manners?: 'gives way'): Promise<StoreCopy> {
    const file = await this.openFile()
    if (this.#givesWay && manners === undefined) await this.#open?.close()
    const moment = await atRest(() => this.#holdMoment())
    const reads = new Set<Promise<void>>()
    let isClosed = false
    const copy: StoreCopy = {
      kind: SQLITE_COPY_KIND,
      version: moment.version,
      bytes: moment.bytes,
      last: moment.last,
      checkpoint: moment.checkpoint,
      position: moment.position,
      read: async (into, position) => {
        if (isClosed) throw new StoreError('store_unavailable', 'the copy is closed')
        const reading = readWhole(file, into, position)
        reads.add(reading)
        try {
          await reading
        } finally {
          reads.delete(reading)
        }
      },
      countHeldBytes: () => countBytes(`${this.#path}-wal`),
      close: async () => {
        if (isClosed) return
        isClosed = true
        await Promise.allSettled(reads)
        try {
          moment.release()
        } finally {
          this.#open = undefined
          this.#isHeld = false
        }
      },
    }
    this.#open = copy
    this.#givesWay = manners === 'gives way'
    return copy
  }

  /** Before the store closes its connections. */
  async closeCopy(): Promise<void> {
    await this.#open?.close()
  }

  /** After the store has closed its connections. */
  async closeFile(): Promise<void> {
    await (await this.#file)?.close()
  }

  #holdMoment(): HeldMoment {
    // To wait for the other one would hold up the hub.
    if (this.#isHeld) throw new StoreError('store_unavailable', 'another copy is open')
    this.#emptyWriteAheadLog()
    const reader = openReader(this.#path, this.#dataKey)
    try {
      reader.exec('BEGIN')
      const session = new SqlSession(reader)
      // The first read begins the transaction.
      const last = selectLastEntry(session)
      const moment = {
        version: readNumber(reader, 'user_version'),
        bytes: readNumber(reader, 'page_count') * readNumber(reader, 'page_size'),
        last,
        checkpoint: selectLogTree(session)?.checkpoint,
        position: selectJournalPosition(session),
        release: () => {
          if (!reader.open) return
          reader.exec('COMMIT')
          reader.close()
        },
      }
      // Last, so that a read that fails leaves nothing held.
      this.#isHeld = true
      return moment
    } catch (error) {
      reader.close()
      throw error
    }
  }

  /** Nobody reads in the middle of a turn, so nothing keeps SQLite from it. */
  #emptyWriteAheadLog(): void {
    const [done] = this.#writer.pragma('wal_checkpoint(TRUNCATE)') as { readonly busy: number }[]
    invariant(done?.busy === 0, 'nobody else reads the database')
  }
}

async function readWhole(file: FileHandle, into: Buffer, position: number): Promise<void> {
  for (let done = 0; done < into.length;) {
    const { bytesRead } = await file.read(into, done, into.length - done, position + done)
    if (bytesRead === 0) throw new StoreError('store_corrupt', 'the database file is too short')
    done += bytesRead
  }
}

async function countBytes(path: string): Promise<number> {
  try {
    return (await stat(path)).size
  } catch (error) {
    if (errnoCode(error) === 'ENOENT') return 0
    throw error
  }
}

function readNumber(connection: Connection, pragma: string): number {
  return Number(connection.pragma(pragma, { simple: true }))
}
