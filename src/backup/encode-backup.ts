import { headMacOf, PieceSeal } from '../platform/sealed-pieces.ts'
import { type BackupHead, encodeBackupHead } from './backup-head.ts'
import { type BackupKeys, countFrames, countSealedBytes, FRAME_BYTES } from './backup-frames.ts'

export interface EncodedBackup {
  /** Of all of it, known before the first byte. */
  readonly byteCount: number
  /** In pieces that are their reader's own: what it takes is a frame, and the next one. */
  readonly pieces: AsyncGenerator<Buffer, void>
}

/** Fills the buffer with the content from `position` on. */
export type ReadContent = (into: Buffer, position: number) => Promise<void>

export interface EncodeOptions {
  readonly head: BackupHead
  readonly keys: BackupKeys
  readonly readContent: ReadContent
  /** Between two frames, for others that have something to do. */
  readonly pause: () => Promise<void>
}

export function encodeBackup(options: EncodeOptions): EncodedBackup {
  const { head, keys } = options
  const start = encodeBackupHead(head, keys.head)
  return {
    byteCount: start.length + countSealedBytes(head.store.bytes),
    pieces: encodePieces(options, start),
  }
}

async function* encodePieces(
  { head, keys, readContent, pause }: EncodeOptions,
  start: Buffer,
): AsyncGenerator<Buffer, void> {
  const contentBytes = head.store.bytes
  const frames = countFrames(contentBytes)
  // A copy: the reader may discard the head.
  const seal = new PieceSeal(keys.frames, Buffer.from(headMacOf(start)), frames)
  const buffers = [0, 1].map(() => Buffer.alloc(Math.min(FRAME_BYTES, contentBytes)))
  const read = async (index: number): Promise<Buffer> => {
    const position = index * FRAME_BYTES
    const bytes = Math.min(FRAME_BYTES, contentBytes - position)
    const content = buffers[index % 2]?.subarray(0, bytes) ?? Buffer.alloc(0)
    await readContent(content, position)
    return content
  }
  yield start
  let next = read(0)
  for (let index = 0; index < frames; index += 1) {
    const content = await next
    if (index + 1 < frames) {
      next = read(index + 1)
      // A reader that goes away leaves it to itself.
      next.catch(() => undefined)
    }
    yield* seal.seal(index, content)
    if (index + 1 < frames) await pause()
  }
}
