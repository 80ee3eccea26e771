// A reply that is kept for a repeated request may hold a new token, whose text the hub must not have. So it is sealed with
// a key made from what only the caller has: the Idempotency-Key and, on the admin port, the admin token.

import { createCipheriv, createDecipheriv, hash, hkdfSync, randomBytes } from 'node:crypto'
import type { IdempotencySecret } from './admin-context.ts'

export interface ReplySeal {
  /** Under which the reply is kept: tells nothing of the key. */
  readonly id: string
  seal(content: object): Uint8Array
  open(sealed: Uint8Array): unknown
}

const CIPHER = 'chacha20-poly1305'
const NONCE_BYTES = 12
const TAG_BYTES = 16

export function createReplySeal({ credential, key }: IdempotencySecret): ReplySeal {
  // Hashed apart first: no two pairs of credential and key come out as one text.
  const parts = [credential, key].map((part) => hash('sha256', part, 'buffer'))
  const derive = (purpose: string): Buffer =>
    Buffer.from(hkdfSync('sha256', Buffer.concat(parts), '', `cartorio admin reply ${purpose}`, 32))
  const sealingKey = derive('key')
  return {
    id: derive('id').toString('hex'),
    seal: (content) => {
      const nonce = randomBytes(NONCE_BYTES)
      const cipher = createCipheriv(CIPHER, sealingKey, nonce, { authTagLength: TAG_BYTES })
      const text = Buffer.concat([cipher.update(JSON.stringify(content), 'utf8'), cipher.final()])
      return Buffer.concat([nonce, text, cipher.getAuthTag()])
    },
    open: (sealed) => {
      const bytes = Buffer.from(sealed)
      const nonce = bytes.subarray(0, NONCE_BYTES)
      const decipher = createDecipheriv(CIPHER, sealingKey, nonce, { authTagLength: TAG_BYTES })
      decipher.setAuthTag(bytes.subarray(-TAG_BYTES))
      const text = decipher.update(bytes.subarray(NONCE_BYTES, -TAG_BYTES), undefined, 'utf8')
      return JSON.parse(text + decipher.final('utf8')) as unknown
    },
  }
}
