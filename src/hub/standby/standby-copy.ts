// The vault of a standby: a database that runs each record of the hub, and takes its place when it is promoted. Each change of it comes
// after the one before. docs/protocol.md STB-6 to STB-8, STB-14.

import { rename, rm } from 'node:fs/promises'
import { GENESIS_HASH } from '../../audit/hash-chain.ts'
import type { Clock } from '../../platform/clock.ts'
import { errnoCode, invariant } from '../../platform/errors.ts'
import { exists, syncDirectory } from '../../platform/files.ts'
import { createSerialQueue } from '../../platform/serial-queue.ts'
import { ImageSeal } from '../store/image-seal.ts'
import type { JournalPosition, JournalRecord } from '../store/journal.ts'
import type { ImageHead, JournalImages } from '../store/journal-images.ts'
import { isSamePosition, NO_JOURNAL, positionAfter, RecordSeal } from '../store/record-seal.ts'
import { inspectJournalPosition } from '../store/sqlite/enter-journal.ts'
import type { SharedJournal } from '../store/sqlite/journal-follower.ts'
import { restoreNewestImage } from '../store/sqlite/restore-image.ts'
import { openSqliteStore, type SqliteStore } from '../store/sqlite/sqlite-store.ts'
import type { Store } from '../store/store.ts'
import { StoreError } from '../store/store-error.ts'
import { openAuditHeadFile } from '../vault/audit-head.ts'
import { vaultFiles } from '../vault/vault-files.ts'
import type { UnsealedVault } from '../vault/vault.ts'

/** Enough for the record that a hub has not committed yet, and some before. */
const KEPT_BYTES = 1024 * 1024

export class StandbyCopy {
  readonly #vault: UnsealedVault
  readonly #clock: Clock
  readonly #seal: RecordSeal
  readonly #headFile: ReturnType<typeof openAuditHeadFile>
  readonly #turns = createSerialQueue()
  #store: SqliteStore | undefined
  #position: JournalPosition | undefined
  #next: JournalRecord | undefined
  #ended: 'promoted' | 'closed' | undefined

  private constructor(vault: UnsealedVault, clock: Clock) {
    this.#vault = vault
    this.#clock = clock
    this.#seal = new RecordSeal(vault.dataKey, vault.vaultId)
    this.#headFile = openAuditHeadFile(vaultFiles(vault.root).auditHead, vault.dataKey)
  }

  static async open(vault: UnsealedVault, clock: Clock): Promise<StandbyCopy> {
    const copy = new StandbyCopy(vault, clock)
    if (await exists(vault.databasePath)) await copy.#openStore()
    return copy
  }

  /** Of the last record that is here; undefined before the first image. */
  get position(): JournalPosition | undefined {
    return this.#position
  }

  /** The same once everything has ended that was begun before. */
  settle(): Promise<JournalPosition | undefined> {
    return this.#turns.run(async () => {
      this.#requireGoing()
      return this.#position
    })
  }

  /** Whether a promotion was committed here, and the process killed after that. */
  get isPromoted(): boolean {
    return this.#position !== undefined && isSamePosition(this.#position, NO_JOURNAL)
  }

  /** Resolves when the record is run here and durable. Throws StoreError. */
  append(record: JournalRecord): Promise<JournalPosition> {
    return this.#turns.run(async () => {
      const store = this.#requireStore()
      const before = this.#position
      invariant(before, 'a store has a position')
      this.#next = record
      try {
        await store.follow()
      } catch (error) {
        // It may have been committed all the same.
        this.#position = inspectJournalPosition(this.#vault.databasePath, this.#vault.dataKey)
        throw error
      } finally {
        this.#next = undefined
      }
      this.#position = positionAfter(before, record)
      return this.#position
    })
  }

  /** After this number, as far as they are here still. */
  listKept(after: number): Promise<readonly JournalRecord[]> {
    return this.#turns.run(async () => this.#requireStore().listKept(after))
  }

  /** What there is stays until the image is whole. Throws StoreError. */
  replaceBy(head: ImageHead, pieces: AsyncGenerator<Buffer, void>): Promise<JournalPosition> {
    return this.#turns.run(async () => {
      this.#requireGoing()
      const { databasePath: path, dataKey, vaultId, root } = this.#vault
      const staged = `${path}.image`
      await removeDatabase(staged)
      const images: Pick<JournalImages, 'list' | 'read'> = {
        list: async () => [{ ...head, id: '' }],
        read: () => pieces,
      }
      const seal = new ImageSeal(dataKey, vaultId)
      await restoreNewestImage({ images, seal, dataKey, path: staged })
      await this.#store?.close()
      this.#store = undefined
      await removeDatabase(path, ['-wal', '-shm'])
      await rename(staged, path)
      await syncDirectory(root)
      await this.#openStore()
      return head.position
    })
  }

  /** Takes no record any more; `work` writes without the journal. */
  endWith<T>(work: (store: Store) => Promise<T>): Promise<T> {
    return this.#turns.run(async () => {
      this.#requireGoing()
      const store = this.#requireStore()
      const { databasePath: path, dataKey } = this.#vault
      await store.close()
      this.#store = undefined
      let alone: SqliteStore | undefined
      try {
        alone = await openSqliteStore({
          path,
          dataKey,
          clock: this.#clock,
          onCommit: (last) => this.#headFile.write(last),
        })
        const result = await work(alone)
        this.#ended = 'promoted'
        return result
      } finally {
        await alone?.close()
        if (this.#ended === undefined) await this.#openStore()
      }
    })
  }

  close(): Promise<void> {
    return this.#turns.run(async () => {
      this.#ended ??= 'closed'
      await this.#store?.close()
      this.#store = undefined
      this.#headFile.close()
    })
  }

  async #openStore(): Promise<void> {
    const { databasePath: path, dataKey } = this.#vault
    this.#position = inspectJournalPosition(path, dataKey)
    const shared: SharedJournal = {
      seal: this.#seal,
      keptBytes: () => KEPT_BYTES,
      journal: {
        read: async (_after, here) => {
          const record = this.#next
          if (record === undefined) return { end: here, records: [] }
          return {
            end: positionAfter(here, record),
            records: record.number > here.number ? [record] : [],
          }
        },
        takeTurn: () =>
          Promise.reject(new StoreError('store_unavailable', 'a standby writes nothing')),
        close: async () => undefined,
      },
    }
    const store = await openSqliteStore({
      path,
      dataKey,
      clock: this.#clock,
      shared,
      onCommit: (last) => {
        try {
          this.#headFile.write(last)
        } catch (error) {
          // A head that lags is no loss.
          if (errnoCode(error) === undefined) throw error
        }
      },
    })
    this.#store = store
    this.#headFile.reset((await store.reader.findChainEnd()) ?? { seq: 0, hash: GENESIS_HASH })
  }

  #requireStore(): SqliteStore {
    this.#requireGoing()
    if (this.#store !== undefined) return this.#store
    throw new StoreError('store_missing', 'the standby has no copy of the vault yet')
  }

  #requireGoing(): void {
    if (this.#ended === 'closed') throw new StoreError('store_unavailable', 'the standby stops')
    if (this.#ended === 'promoted') {
      throw new StoreError('hub_deposed', 'this machine is a standby no more')
    }
  }
}

async function removeDatabase(
  path: string,
  suffixes: readonly string[] = ['', '-wal', '-shm', '.new'],
): Promise<void> {
  for (const suffix of suffixes) await rm(`${path}${suffix}`, { force: true })
}
