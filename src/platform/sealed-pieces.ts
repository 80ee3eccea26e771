// Content in pieces behind a head, each sealed with AES-256-GCM. A nonce is the number of the piece and whether it is the last one, and the
// MAC that ends the head goes into each seal: a piece opens only in its own place behind its own head, under a key that nothing else has.

import { createCipheriv, createDecipheriv, hkdfSync } from 'node:crypto'
import type { Secret } from './secret.ts'

/** What a piece has more than its content. */
export const SEAL_BYTES = 16
const CIPHER = 'aes-256-gcm'
const OPTIONS = { authTagLength: SEAL_BYTES }
const KEY_BYTES = 32
const MAC_BYTES = 32
const NONCE_BYTES = 12

/** HKDF-SHA256; `salt` is lower-case hex. 32 bytes. */
export function deriveSaltedKey(root: Secret<Buffer>, salt: string, purpose: string): Buffer {
  return Buffer.from(
    hkdfSync('sha256', root.reveal(), Buffer.from(salt, 'hex'), purpose, KEY_BYTES),
  )
}

/** What ends the bytes of a head. */
export function headMacOf(head: Buffer): Buffer {
  return head.subarray(head.length - MAC_BYTES)
}

export class PieceSeal {
  readonly #key: Buffer
  readonly #headMac: Buffer
  readonly #pieces: number

  constructor(key: Buffer, headMac: Buffer, pieces: number) {
    this.#key = key
    this.#headMac = headMac
    this.#pieces = pieces
  }

  /** In two parts, content and tag: to join them would copy all of it. */
  seal(index: number, content: Uint8Array): readonly [Buffer, Buffer] {
    const cipher = createCipheriv(CIPHER, this.#key, this.#nonceOf(index), OPTIONS)
    cipher.setAAD(this.#headMac)
    const sealed = cipher.update(content)
    // Of this mode it is empty.
    cipher.final()
    return [sealed, cipher.getAuthTag()]
  }

  /** Undefined when it is not the piece of this place. */
  open(index: number, sealed: Buffer): Buffer | undefined {
    const end = sealed.length - SEAL_BYTES
    if (end < 0) return undefined
    const decipher = createDecipheriv(CIPHER, this.#key, this.#nonceOf(index), OPTIONS)
    decipher.setAAD(this.#headMac)
    decipher.setAuthTag(sealed.subarray(end))
    const content = decipher.update(sealed.subarray(0, end))
    try {
      decipher.final()
      return content
    } catch {
      return undefined
    }
  }

  #nonceOf(index: number): Buffer {
    const nonce = Buffer.alloc(NONCE_BYTES)
    nonce.writeUIntBE(index, NONCE_BYTES - 1 - 6, 6)
    nonce.writeUInt8(index === this.#pieces - 1 ? 1 : 0, NONCE_BYTES - 1)
    return nonce
  }
}
