// An image of the journal becomes a database again, which is at the position of the image: written beside its name, checked, synced, renamed.

import { constants } from 'node:fs'
import { open, rename, rm } from 'node:fs/promises'
import { dirname } from 'node:path'
import { exists, syncDirectory } from '../../../platform/files.ts'
import type { Secret } from '../../../platform/secret.ts'
import type { ImageSeal } from '../image-seal.ts'
import type { JournalImage, JournalImages } from '../journal-images.ts'
import { isSamePosition } from '../record-seal.ts'
import { StoreError } from '../store-error.ts'
import { SQLITE_COPY_KIND } from './database-copy.ts'
import { inspectJournalPosition } from './enter-journal.ts'
import { MIGRATIONS } from './migrations.ts'

export interface RestoreImageOptions {
  readonly images: Pick<JournalImages, 'list' | 'read'>
  readonly seal: ImageSeal
  readonly dataKey: Secret<Buffer>
  /** Of the database, which must not be there yet. */
  readonly path: string
}

export interface RestoredImage {
  readonly image: JournalImage
  /** What is wrong with each newer one. */
  readonly damaged: readonly StoreError[]
}

const CREATE_NEW = constants.O_WRONLY | constants.O_CREAT | constants.O_EXCL | constants.O_NOFOLLOW
const MODE = 0o600

/**
 * The newest image that is not damaged. Throws StoreError: `store_exists`, `store_missing` when there is no image, `store_newer`,
 * `store_corrupt` when all are damaged, `store_unavailable` when it has to begin again.
 */
export async function restoreNewestImage(options: RestoreImageOptions): Promise<RestoredImage> {
  const { images, path } = options
  if (await exists(path)) throw new StoreError('store_exists', `${path} exists already`)
  const damaged: StoreError[] = []
  for (const image of await images.list()) {
    try {
      await restore(image, options)
      return { image, damaged }
    } catch (error) {
      if (!(error instanceof StoreError && error.code === 'store_corrupt')) throw error
      damaged.push(error)
    }
  }
  throw damaged[0] ?? new StoreError('store_missing', 'the journal has no image of this vault')
}

async function restore(image: JournalImage, options: RestoreImageOptions): Promise<void> {
  const { images, seal, dataKey, path } = options
  refuseUnreadable(image)
  const staged = `${path}.new`
  await removeAll(staged)
  try {
    await write(staged, seal.open(image, images.read(image)))
    if (!isSamePosition(inspectJournalPosition(staged, dataKey), image.position)) {
      const { number } = image.position
      throw new StoreError('store_corrupt', `the image at record ${number} has another position`)
    }
    // What a look at the database leaves beside it.
    await removeAll(staged, ['-wal', '-shm'])
    await rename(staged, path)
  } catch (error) {
    await removeAll(staged)
    throw error
  }
  await syncDirectory(dirname(path))
}

async function write(path: string, pieces: AsyncIterable<Buffer>): Promise<void> {
  const file = await open(path, CREATE_NEW, MODE)
  try {
    await file.writeFile(pieces)
    await file.sync()
  } finally {
    await file.close()
  }
}

async function removeAll(
  staged: string,
  suffixes: readonly string[] = ['', '-wal', '-shm'],
): Promise<void> {
  for (const suffix of suffixes) await rm(staged + suffix, { force: true })
}

function refuseUnreadable({ kind, version }: JournalImage): void {
  const known = kind === SQLITE_COPY_KIND ? MIGRATIONS.length : 0
  if (version <= known) return
  throw new StoreError(
    'store_newer',
    `the image in the journal is ${kind} of format ${version}, this program knows ${SQLITE_COPY_KIND} up to format ${MIGRATIONS.length}`,
    { hint: 'use the newer version of the program, which the other hubs have' },
  )
}
