// The content of a backup: frames of 256 KiB, the last one shorter or as long, each sealed with AES-256-GCM under a key that
// this backup alone has. A nonce is the number of the frame and whether it is the last one, and the MAC of the head goes
// into each seal: a frame opens only in its own place of its own backup. docs/protocol.md BKP-3.

import { createCipheriv, createDecipheriv, hkdfSync } from 'node:crypto'
import type { Secret } from '../platform/secret.ts'
import type { BackupHead } from './backup-head.ts'

export const FRAME_BYTES: number = 256 * 1024
export const SEAL_BYTES = 16
const CIPHER = 'aes-256-gcm'
const KEY_BYTES = 32
const NONCE_BYTES = 12

export interface BackupKeys {
  readonly head: Buffer
  readonly frames: Buffer
}

export function deriveBackupKeys(
  dataKey: Secret<Buffer>,
  { salt }: Pick<BackupHead, 'salt'>,
): BackupKeys {
  const derive = (purpose: string): Buffer =>
    Buffer.from(hkdfSync('sha256', dataKey.reveal(), Buffer.from(salt, 'hex'), purpose, KEY_BYTES))
  return { head: derive('svc backup head v1'), frames: derive('svc backup frames v1') }
}

/** At least one: an empty frame ends a backup of nothing. */
export function countFrames(contentBytes: number): number {
  return Math.max(1, Math.ceil(contentBytes / FRAME_BYTES))
}

export function countSealedBytes(contentBytes: number): number {
  return contentBytes + countFrames(contentBytes) * SEAL_BYTES
}

/** Seals and opens the frames of one backup, by the MAC of its head. */
export class FrameSeal {
  readonly #key: Buffer
  readonly #headMac: Buffer
  readonly #frames: number

  constructor(key: Buffer, headMac: Buffer, contentBytes: number) {
    this.#key = key
    this.#headMac = headMac
    this.#frames = countFrames(contentBytes)
  }

  /** In two pieces, content and tag: to join them would copy all of it. */
  seal(index: number, content: Uint8Array): readonly [Buffer, Buffer] {
    const options = { authTagLength: SEAL_BYTES }
    const cipher = createCipheriv(CIPHER, this.#key, this.#nonceOf(index), options)
    cipher.setAAD(this.#headMac)
    const sealed = cipher.update(content)
    // Of this mode it is empty.
    cipher.final()
    return [sealed, cipher.getAuthTag()]
  }

  /** Undefined when it is not this frame of this backup. */
  open(index: number, sealed: Buffer): Buffer | undefined {
    const options = { authTagLength: SEAL_BYTES }
    const decipher = createDecipheriv(CIPHER, this.#key, this.#nonceOf(index), options)
    decipher.setAAD(this.#headMac)
    decipher.setAuthTag(sealed.subarray(sealed.length - SEAL_BYTES))
    const content = decipher.update(sealed.subarray(0, sealed.length - SEAL_BYTES))
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
    nonce.writeUInt8(index === this.#frames - 1 ? 1 : 0, NONCE_BYTES - 1)
    return nonce
  }
}
