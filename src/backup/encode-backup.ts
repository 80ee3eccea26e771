import { type BackupHead, encodeBackupHead } from './backup-head.ts'
import {
  type BackupKeys,
  countFrames,
  countSealedBytes,
  FRAME_BYTES,
  FrameSeal,
} from './backup-frames.ts'
import { headMacOf } from './head-mac.ts'

export interface EncodedBackup {
  /** Of all of it, known before the first byte. */
  readonly byteCount: number
  /** In pieces that are not kept: what it takes is one frame. */
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
  const seal = new FrameSeal(keys.frames, headMacOf(start), contentBytes)
  const frame = Buffer.alloc(Math.min(FRAME_BYTES, contentBytes))
  yield start
  for (let index = 0; index < countFrames(contentBytes); index += 1) {
    const position = index * FRAME_BYTES
    const content = frame.subarray(0, Math.min(FRAME_BYTES, contentBytes - position))
    await readContent(content, position)
    yield seal.seal(index, content)
    await pause()
  }
}
