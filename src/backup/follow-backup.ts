import { BackupError } from './backup-error.ts'
import { countSealedBytes } from './backup-frames.ts'
import { type BackupHead, countHeadBytes, HEAD_BYTES_MIN, parseBackupHead } from './backup-head.ts'

export interface FollowedBackup {
  readonly head: BackupHead
  readonly byteCount: number
}

export interface Follower {
  /** Told of each piece, when it is known how many bytes there will be. */
  readonly onProgress?: ((bytes: number, byteCount: number) => void) | undefined
  readonly name: string
}

/** A backup on its way, by someone without its key: passes on its pieces, and fails unless all of it came. */
export class BackupOnItsWay {
  readonly #pieces: AsyncIterable<Uint8Array>
  readonly #follower: Follower
  #start: Buffer = Buffer.alloc(0)
  #followed: FollowedBackup | undefined

  constructor(pieces: AsyncIterable<Uint8Array>, follower: Follower) {
    this.#pieces = pieces
    this.#follower = follower
  }

  /** Of a backup that has come to its end. */
  get followed(): FollowedBackup | undefined {
    return this.#followed
  }

  async *pieces(): AsyncGenerator<Uint8Array, void> {
    let bytes = 0
    for await (const piece of this.#pieces) {
      bytes += piece.length
      this.#followed ??= this.#findHead(piece)
      if (this.#followed !== undefined) {
        this.#follower.onProgress?.(bytes, this.#followed.byteCount)
      }
      yield piece
    }
    if (bytes === this.#followed?.byteCount) return
    throw new BackupError('backup_truncated', `the backup ended after ${bytes} bytes`, {
      hint: 'the log of the hub says why; begin again',
    })
  }

  #findHead(piece: Uint8Array): FollowedBackup | undefined {
    this.#start = Buffer.concat([this.#start, piece])
    if (this.#start.length < HEAD_BYTES_MIN) return undefined
    const { name } = this.#follower
    const headBytes = countHeadBytes(this.#start, name)
    if (this.#start.length < headBytes) return undefined
    const head = parseBackupHead(this.#start.subarray(0, headBytes), name)
    this.#start = Buffer.alloc(0)
    return { head, byteCount: headBytes + countSealedBytes(head.store.bytes) }
  }
}
