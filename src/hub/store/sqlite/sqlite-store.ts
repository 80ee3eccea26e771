import type { Secret } from '../../../platform/secret.ts'
import type { AgentId } from '../../../protocol/identifiers.ts'
import { StoreError } from '../store-error.ts'
import type { CopiedStore, StoreCopy } from '../store-copy.ts'
import type { StoreReader, StoreWriter, WriteCompany } from '../store.ts'
import { DatabaseCopies } from './database-copy.ts'
import { type Connection, createDatabase, openReader, openWriter } from './encrypted-database.ts'
import { exists } from '../../../platform/files.ts'
import type { RequireReadable } from './bring-tables-forward.ts'
import { GroupCommit, type GroupCommitOptions } from './group-commit.ts'
import type { JournalPosition, JournalRecord } from '../journal.ts'
import { selectJournalPosition } from './journal-position.ts'
import { copyLogIntoFile } from './log-copier.ts'
import { SqlSession } from './sql-session.ts'
import { SqliteReader } from './sqlite-reader.ts'

export interface SqliteStoreOptions extends GroupCommitOptions {
  readonly path: string
  readonly dataKey: Secret<Buffer>
  /** Else a missing database is an error. */
  readonly createIfMissing?: boolean
}

/** Opens the encrypted database, whose tables are brought to the newest version unless others share them. Throws StoreError. */
export async function openSqliteStore(options: SqliteStoreOptions): Promise<SqliteStore> {
  const { path, dataKey } = options
  if (options.createIfMissing === true && !(await exists(path))) await createDatabase(path, dataKey)
  const { shared } = options
  const writer = openWriter(path, dataKey, {
    migrations: shared?.migrations,
    isShared: shared !== undefined,
  })
  let reader: Connection | undefined
  try {
    reader = openReader(path, dataKey)
    const copies = new DatabaseCopies(path, dataKey, writer)
    const copyLog = () =>
      copyLogIntoFile({
        connection: writer,
        logPath: `${path}-wal`,
        openFile: () => copies.openFile(),
      })
    return new SqliteStore(writer, reader, copies, { ...options, copyLog })
  } catch (error) {
    reader?.close()
    writer.close()
    throw error
  }
}

export class SqliteStore implements CopiedStore {
  readonly reader: StoreReader
  readonly #writerConnection: Connection
  readonly #readerConnection: Connection
  readonly #readerSession: SqlSession
  readonly #groupCommit: GroupCommit
  readonly #copies: DatabaseCopies
  #closing: Promise<void> | undefined

  constructor(
    writer: Connection,
    reader: Connection,
    copies: DatabaseCopies,
    options: GroupCommitOptions = {},
  ) {
    this.#writerConnection = writer
    this.#readerConnection = reader
    this.#copies = copies
    this.#groupCommit = new GroupCommit(writer, options)
    const session = new SqlSession(reader)
    this.#readerSession = session
    // Between transactions the writing connection sees nothing but what is committed either, and what it wrote last is
    // still in its cache.
    const warmSession = new SqlSession(writer)
    this.reader = new SqliteReader(() => {
      if (reader.open) return writer.inTransaction ? session : warmSession
      throw new StoreError('store_unavailable', 'the store is closed')
    })
  }

  /** Nobody but this store writes, so its commits are all there is to see. */
  get version(): number {
    return this.#groupCommit.versions.version
  }

  versionOf(id: AgentId): number {
    return this.#groupCommit.versions.versionOf(id)
  }

  /** Transactions committed since the store was opened; concurrent writes share one. */
  get commits(): number {
    return this.#groupCommit.commits
  }

  /** Of the last record of the journal that is here; 0 without a journal. */
  get position(): number {
    return this.#groupCommit.position
  }

  /** The same without what a transaction under way has done. */
  get committedPosition(): JournalPosition {
    return selectJournalPosition(this.#readerSession)
  }

  /** Records after this number that this database keeps, oldest first. */
  listKept(after: number): readonly JournalRecord[] {
    return this.#groupCommit.listKept(after)
  }

  write<T>(work: (writer: StoreWriter) => Promise<T>, company?: WriteCompany): Promise<T> {
    return this.#groupCommit.write(work, company)
  }

  /** Resolves when everything is here that the journal had when this was called. */
  follow(): Promise<void> {
    return this.#groupCommit.follow()
  }

  /** Once everything is here that the journal had, and before anything is written. */
  bringTablesForward(requireReadable: RequireReadable): Promise<void> {
    return this.#groupCommit.bringTablesForward(requireReadable)
  }

  openCopy(manners?: 'gives way'): Promise<StoreCopy> {
    return this.#copies.open((work) => this.#groupCommit.atRest(work), manners)
  }

  /** Settles what was written before, then closes; may be called twice. */
  close(): Promise<void> {
    this.#closing ??= this.#close()
    return this.#closing
  }

  async #close(): Promise<void> {
    await this.#groupCommit.close()
    await this.#copies.closeCopy()
    this.#readerConnection.close()
    // The last connection empties the WAL into the file.
    this.#writerConnection.close()
    await this.#copies.closeFile()
  }
}
