import type { Secret } from '../../../platform/secret.ts'
import type { AgentId } from '../../../protocol/identifiers.ts'
import type { AuditEntry } from '../../domain/audit-entry.ts'
import { StoreError } from '../store-error.ts'
import type { Store, StoreReader, StoreWriter } from '../store.ts'
import { type Connection, createDatabase, openReader, openWriter } from './encrypted-database.ts'
import { exists } from '../../../platform/files.ts'
import { type CommittedBatch, GroupCommit } from './group-commit.ts'
import { SqlSession } from './sql-session.ts'
import { SqliteReader } from './sqlite-reader.ts'

export interface SqliteStoreOptions {
  readonly path: string
  readonly dataKey: Secret<Buffer>
  /** Else a missing database is an error. */
  readonly createIfMissing?: boolean
  /** Told the last entry of each commit that appended to the audit log, before its writes are acknowledged. */
  readonly onCommit?: (last: AuditEntry) => void
  /** Told of each transaction, for metrics. */
  readonly onBatch?: ((batch: CommittedBatch) => void) | undefined
}

/** Opens the encrypted database, whose tables are brought to the newest version. Throws StoreError. */
export async function openSqliteStore(options: SqliteStoreOptions): Promise<SqliteStore> {
  const { path, dataKey } = options
  if (options.createIfMissing === true && !(await exists(path))) await createDatabase(path, dataKey)
  const writer = openWriter(path, dataKey)
  let reader: Connection | undefined
  try {
    reader = openReader(path, dataKey)
    return new SqliteStore(writer, reader, options.onCommit, options.onBatch)
  } catch (error) {
    reader?.close()
    writer.close()
    throw error
  }
}

export class SqliteStore implements Store {
  readonly reader: StoreReader
  readonly #writerConnection: Connection
  readonly #readerConnection: Connection
  readonly #groupCommit: GroupCommit
  #closing: Promise<void> | undefined

  constructor(
    writer: Connection,
    reader: Connection,
    onCommit: (last: AuditEntry) => void = () => undefined,
    onBatch?: (batch: CommittedBatch) => void,
  ) {
    this.#writerConnection = writer
    this.#readerConnection = reader
    this.#groupCommit = new GroupCommit(writer, onCommit, onBatch)
    const session = new SqlSession(reader)
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

  write<T>(work: (writer: StoreWriter) => Promise<T>): Promise<T> {
    return this.#groupCommit.write(work)
  }

  /** Settles what was written before, then closes; may be called twice. */
  close(): Promise<void> {
    this.#closing ??= this.#close()
    return this.#closing
  }

  async #close(): Promise<void> {
    await this.#groupCommit.close()
    this.#readerConnection.close()
    // The last connection empties the WAL into the file.
    this.#writerConnection.close()
  }
}
