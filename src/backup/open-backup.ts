// A backup, read from its first byte to its last, in the memory of one frame. What is read of it is believed only after it
// was opened with the data key. docs/protocol.md BKP-2, BKP-3.

import { headMacOf, PieceSeal, SEAL_BYTES } from '../platform/sealed-pieces.ts'
import type { Secret } from '../platform/secret.ts'
import { BackupError } from './backup-error.ts'
import { countFrames, countSealedBytes, deriveBackupKeys, FRAME_BYTES } from './backup-frames.ts'
import {
  type BackupHead,
  countHeadBytes,
  HEAD_BYTES_MIN,
  parseBackupHead,
  requireHeadMac,
} from './backup-head.ts'
import { ByteQueue } from '../platform/byte-queue.ts'

export interface OpenedBackup {
  /** Not yet authenticated; `readContent` does that first. */
  readonly head: BackupHead
  /** Throws BackupError at the first byte that is not the one that was written. */
  readContent(this: void, dataKey: Secret<Buffer>): AsyncGenerator<Buffer, void>
}

/** `name` is for messages. */
export async function openBackup(
  pieces: AsyncIterable<Uint8Array>,
  name: string,
): Promise<OpenedBackup> {
  const queue = new ByteQueue(pieces)
  const start = await queue.take(HEAD_BYTES_MIN)
  if (start.length < HEAD_BYTES_MIN) {
    // An empty file is what a full disk leaves.
    countHeadBytes(Buffer.concat([start, Buffer.alloc(HEAD_BYTES_MIN)]), name)
    throw truncated(name, start.length)
  }
  const headBytes = countHeadBytes(start, name)
  const rest = await queue.take(headBytes - HEAD_BYTES_MIN)
  const bytes = Buffer.concat([start, rest])
  if (bytes.length < headBytes) throw truncated(name, bytes.length)
  const head = parseBackupHead(bytes, name)
  return { head, readContent: (dataKey) => readContent({ queue, name, bytes, head, dataKey }) }
}

interface Source {
  readonly queue: ByteQueue
  readonly name: string
  readonly bytes: Buffer
  readonly head: BackupHead
  readonly dataKey: Secret<Buffer>
}

async function* readContent(source: Source): AsyncGenerator<Buffer, void> {
  const { queue, name, bytes, head, dataKey } = source
  const keys = deriveBackupKeys(dataKey, head)
  requireHeadMac(bytes, keys.head, name)
  const contentBytes = head.store.bytes
  const total = bytes.length + countSealedBytes(contentBytes)
  const frames = countFrames(contentBytes)
  const seal = new PieceSeal(keys.frames, headMacOf(bytes), frames)
  for (let index = 0; index < frames; index += 1) {
    const position = queue.taken
    const wanted = Math.min(FRAME_BYTES, contentBytes - index * FRAME_BYTES) + SEAL_BYTES
    const sealed = await queue.take(wanted)
    if (sealed.length < wanted) throw truncated(name, queue.taken, total)
    const content = seal.open(index, sealed)
    if (content === undefined) throw damaged(name, position, position + wanted)
    yield content
  }
  const behind = await queue.take(1)
  if (behind.length > 0) {
    throw new BackupError(
      'backup_too_long',
      `${name} goes on behind the ${total} bytes of the backup`,
      {
        hint: 'somebody added to it; take another copy of this backup',
      },
    )
  }
}

function truncated(name: string, has: number, wanted?: number): BackupError {
  const of = wanted === undefined ? '' : ` of ${wanted}`
  return new BackupError('backup_truncated', `${name} ends early: it has ${has}${of} bytes`, {
    hint: 'it was not written to its end, or not copied whole; take another backup',
  })
}

function damaged(name: string, from: number, to: number): BackupError {
  return new BackupError(
    'backup_damaged',
    `${name} is damaged, or put together from several backups, between the bytes ${from} and ${to}`,
    { hint: 'take another backup, or another copy of this one' },
  )
}
