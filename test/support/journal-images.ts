// What tests of images do with stores that share a journal.

import assert from 'node:assert/strict'
import { rm } from 'node:fs/promises'
import { makeImage } from '../../src/hub/journal/make-image.ts'
import { appendEntry } from '../../src/hub/service/append-entries.ts'
import { hubAct } from '../../src/hub/service/hub-acts.ts'
import { ImageSeal } from '../../src/hub/store/image-seal.ts'
import type { Journal } from '../../src/hub/store/journal.ts'
import type { ImageHead, JournalImages } from '../../src/hub/store/journal-images.ts'
import { type RestoredImage, restoreNewestImage } from '../../src/hub/store/sqlite/restore-image.ts'
import { openSqliteStore, type SqliteStore } from '../../src/hub/store/sqlite/sqlite-store.ts'
import type { Store } from '../../src/hub/store/store.ts'
import { systemClock } from '../../src/platform/clock.ts'
import { HubEventType } from '../../src/protocol/words.ts'
import { readTables, type SharingStores } from './temporary-store.ts'

const ENTRY_TEXT_BYTES = 64 * 1024

/** As many bytes in the log, at most 4 MiB, by one record. */
export async function fillLog(store: Store, bytes: number): Promise<void> {
  const text = 'x'.repeat(ENTRY_TEXT_BYTES)
  const act = hubAct(new Date(0), HubEventType.tokenRevoked, { actor: 'hub', text })
  const entries = Array.from({ length: Math.ceil(bytes / ENTRY_TEXT_BYTES) })
  await Promise.all(entries.map(() => store.write((writer) => appendEntry(writer, act))))
}

export function appendOne(store: Store): Promise<unknown> {
  const act = hubAct(new Date(0), HubEventType.tokenRevoked, { actor: 'hub' })
  return store.write((writer) => appendEntry(writer, act))
}

export class ImageRig {
  readonly stores: SharingStores
  readonly images: JournalImages
  readonly connect: () => Journal
  readonly seal: ImageSeal
  readonly path: string

  constructor(stores: SharingStores, images: JournalImages, connect: () => Journal) {
    this.stores = stores
    this.images = images
    this.connect = connect
    this.seal = new ImageSeal(stores.dataKey, 'a-vault')
    this.path = `${stores.paths[0] ?? assert.fail('a store')}-joined`
  }

  get store(): SqliteStore {
    return this.stores.all[0] ?? assert.fail('a store')
  }

  async make(store: SqliteStore = this.store): Promise<ImageHead | undefined> {
    const { images, seal } = this
    return makeImage({ store, images, seal, clock: systemClock })
  }

  async restore(seal: ImageSeal = this.seal): Promise<RestoredImage> {
    const { images, path, stores } = this
    await rm(path, { force: true })
    return restoreNewestImage({ images, seal, path, dataKey: stores.dataKey })
  }

  /** A new hub begins with the newest image, follows the rest, and writes: it has the same rows as the first one. */
  async assertJoins(): Promise<RestoredImage> {
    const restored = await this.restore()
    const { path, stores, connect } = this
    const { dataKey, seal } = stores
    const joined = await openSqliteStore({ path, dataKey, shared: { journal: connect(), seal } })
    try {
      await appendOne(joined)
      await this.store.follow()
      assert.deepEqual(
        readTables(path, dataKey),
        readTables(stores.paths[0] ?? '', dataKey),
        'the same row for row',
      )
    } finally {
      await joined.close()
    }
    return restored
  }
}
