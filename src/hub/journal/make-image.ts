// An image of the vault that this process has open, of one moment, written into the journal at the pace of a backup. docs/protocol.md JRN-6, JRN-8.

import type { Clock } from '../../platform/clock.ts'
import { type BackupPace, findBackupFault } from '../backup/backup-pace.ts'
import {
  countImagePieces,
  countPieceBytes,
  IMAGE_PIECE_BYTES,
  type ImageSeal,
} from '../store/image-seal.ts'
import type { ImageHead, ImageWriter, JournalImages } from '../store/journal-images.ts'
import type { CopiedStore, StoreCopy } from '../store/store-copy.ts'
import { isSamePosition, NO_JOURNAL } from '../store/record-seal.ts'
import { StoreError } from '../store/store-error.ts'

export interface MakeImageOptions {
  readonly store: Pick<CopiedStore, 'openCopy'> & { follow(): Promise<void> }
  readonly images: Pick<JournalImages, 'begin'>
  readonly seal: ImageSeal
  readonly clock: Clock
  /** For a vault that others use meanwhile. */
  readonly pace?: BackupPace | undefined
}

/** Undefined while another hub makes one. Throws StoreError: `store_unavailable` when it has to begin again, later; what `follow` throws. */
export async function makeImage(
  options: MakeImageOptions,
  signal?: AbortSignal,
): Promise<ImageHead | undefined> {
  const { store, images, seal } = options
  await store.follow()
  // A backup does not wait for it.
  const copy = await store.openCopy('gives way')
  try {
    const head = seal.headOf(copy)
    if (isSamePosition(head.position, NO_JOURNAL)) {
      throw new StoreError('store_diverged', 'this vault follows no journal')
    }
    const writer = await images.begin(head, countImagePieces(head))
    if (writer === undefined) return undefined
    try {
      await writePieces({ ...options, copy, head, writer }, signal)
      // A journal that has lost records since the copy was made may have others in their place.
      await store.follow()
      await writer.finish()
      return head
    } finally {
      await writer.close()
    }
  } finally {
    await copy.close()
  }
}

interface Writing extends MakeImageOptions {
  readonly copy: StoreCopy
  readonly head: ImageHead
  readonly writer: ImageWriter
}

async function writePieces(writing: Writing, signal: AbortSignal | undefined): Promise<void> {
  const { copy, head, writer, seal } = writing
  const buffer = Buffer.alloc(Math.min(IMAGE_PIECE_BYTES, head.bytes))
  const keepPace = createPacer(writing, signal)
  for (let index = 0; index < countImagePieces(head); index += 1) {
    const content = buffer.subarray(0, countPieceBytes(head, index))
    await copy.read(content, index * IMAGE_PIECE_BYTES)
    await writer.append(seal.seal(head, index, content))
    await keepPace((index + 1) * IMAGE_PIECE_BYTES)
  }
}

/** After each piece. Throws when the image holds up too much, or too long. */
function createPacer(
  { clock, pace, copy }: Writing,
  signal: AbortSignal | undefined,
): (sentBytes: number) => Promise<void> {
  const startMs = clock.now().getTime()
  return async (sentBytes) => {
    signal?.throwIfAborted()
    if (pace === undefined) return
    const elapsedMs = clock.now().getTime() - startMs
    const heldBytes = await copy.countHeldBytes()
    const fault = findBackupFault({ elapsedMs, heldBytes, sentBytes }, pace)
    if (fault !== undefined) throw new StoreError('store_unavailable', `the image: ${fault}`)
    const wantedMs = (sentBytes / pace.bytesPerSecondMax) * 1000
    await clock.sleep(Math.max(1, wantedMs - elapsedMs), signal)
  }
}
