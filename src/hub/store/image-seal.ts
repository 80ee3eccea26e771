// How an image is sealed: in pieces of 1 MiB of the database file, the last one for what is left, each as sealed-pieces.ts has it. The key is
// HKDF-SHA256 of the data key with the salt of the image. In the place of a head stands SHA-256 of what the image is: vault, position, kind,
// version and length. So a piece opens only in its own place of its own image, and what the journal says of an image is believed only
// because the pieces open. The data key is nowhere in the journal, not even wrapped: there is nothing to guess at. docs/protocol.md JRN-7.

import { hash, randomBytes } from 'node:crypto'
import { deriveSaltedKey, PieceSeal, SEAL_BYTES } from '../../platform/sealed-pieces.ts'
import type { Secret } from '../../platform/secret.ts'
import type { ImageHead } from './journal-images.ts'
import type { StoreCopy } from './store-copy.ts'
import { StoreError } from './store-error.ts'

export const IMAGE_PIECE_BYTES: number = 1024 * 1024
const SALT_BYTES = 32
const PURPOSE = 'cartorio journal image'

/** At least one, so that an end is sealed. */
export function countImagePieces({ bytes }: Pick<ImageHead, 'bytes'>): number {
  return Math.max(1, Math.ceil(bytes / IMAGE_PIECE_BYTES))
}

export function countPieceBytes({ bytes }: Pick<ImageHead, 'bytes'>, index: number): number {
  return Math.min(IMAGE_PIECE_BYTES, bytes - index * IMAGE_PIECE_BYTES)
}

export class ImageSeal {
  readonly #dataKey: Secret<Buffer>
  readonly #vaultId: string

  constructor(dataKey: Secret<Buffer>, vaultId: string) {
    this.#dataKey = dataKey
    this.#vaultId = vaultId
  }

  headOf({ position, kind, version, bytes }: StoreCopy): ImageHead {
    return { position, kind, version, bytes, salt: randomBytes(SALT_BYTES).toString('hex') }
  }

  seal(head: ImageHead, index: number, content: Uint8Array): Buffer {
    return Buffer.concat(this.#pieceSealOf(head).seal(index, content))
  }

  /** The content, piece by piece. Throws StoreError `store_corrupt` at the first piece that is not the one of its place. */
  async *open(head: ImageHead, pieces: AsyncIterable<Buffer>): AsyncGenerator<Buffer, void> {
    const seal = this.#pieceSealOf(head)
    const count = countImagePieces(head)
    let index = 0
    for await (const sealed of pieces) {
      if (index === count) throw damaged(head, 'goes on behind its end')
      const isOfLength = sealed.length === countPieceBytes(head, index) + SEAL_BYTES
      const content = isOfLength ? seal.open(index, sealed) : undefined
      if (content === undefined) throw damaged(head, `has another piece in the place of ${index}`)
      yield content
      index += 1
    }
    if (index < count) throw damaged(head, `ends after ${index} pieces of ${count}`)
  }

  #pieceSealOf(head: ImageHead): PieceSeal {
    const { position, kind, version, bytes, salt } = head
    const is = [this.#vaultId, position.number, position.hash.toString('hex'), kind, version, bytes]
    const key = deriveSaltedKey(this.#dataKey, salt, PURPOSE)
    return new PieceSeal(key, hash('sha256', is.join('\n'), 'buffer'), countImagePieces(head))
  }
}

function damaged({ position }: ImageHead, what: string): StoreError {
  return new StoreError('store_corrupt', `the image at record ${position.number} ${what}`)
}
