// What a TLS 1.3 client says before it is known is encrypted, and the server has the key: RFC 8446 5.2 and 7.

import { createDecipheriv, createHmac, createSecretKey, type KeyObject } from 'node:crypto'

/** Type of the content within an encrypted record, and the content. */
export interface OpenedRecord {
  readonly type: number
  readonly content: Buffer
}

/** The content of the next record, `undefined` when it is not of this client or not of this place in the order. */
export type OpenRecord = (header: Buffer, body: Buffer) => OpenedRecord | undefined

interface Suite {
  readonly cipher: 'aes-128-gcm' | 'aes-256-gcm' | 'chacha20-poly1305'
  readonly hash: 'sha256' | 'sha384'
  readonly keyBytes: number
}

const SUITES: Readonly<Record<string, Suite>> = {
  TLS_AES_256_GCM_SHA384: { cipher: 'aes-256-gcm', hash: 'sha384', keyBytes: 32 },
  TLS_CHACHA20_POLY1305_SHA256: { cipher: 'chacha20-poly1305', hash: 'sha256', keyBytes: 32 },
  TLS_AES_128_GCM_SHA256: { cipher: 'aes-128-gcm', hash: 'sha256', keyBytes: 16 },
}
const IV_BYTES = 12
const TAG_BYTES = 16

/** `secret` is the client's traffic secret of the handshake; undefined for a suite that is not of TLS 1.3. */
export function createRecordOpener(suiteName: string, secret: Buffer): OpenRecord | undefined {
  const suite = SUITES[suiteName]
  if (suite === undefined) return undefined
  // As key objects: of bytes Node finds out that they are none by an error with its stack, 12 us each time.
  const secretKey = createSecretKey(secret)
  const key = createSecretKey(expandLabel(suite, secretKey, 'key', suite.keyBytes))
  const iv = expandLabel(suite, secretKey, 'iv', IV_BYTES)
  let sequence = 0
  return (header, body) => {
    if (body.length < TAG_BYTES) return undefined
    const nonce = Buffer.from(iv)
    nonce.writeUInt32BE((nonce.readUInt32BE(IV_BYTES - 4) ^ sequence) >>> 0, IV_BYTES - 4)
    sequence += 1
    const plain = decrypt(suite, { key, nonce, header, body })
    return plain && withoutPadding(plain)
  }
}

/** HKDF-Expand-Label with an empty context; what it is asked for is never longer than the hash. */
function expandLabel({ hash }: Suite, secret: KeyObject, label: string, byteCount: number): Buffer {
  const name = Buffer.from(`tls13 ${label}`, 'ascii')
  const info = Buffer.concat([Buffer.from([0, byteCount, name.length]), name, Buffer.from([0, 1])])
  return createHmac(hash, secret).update(info).digest().subarray(0, byteCount)
}

function decrypt(
  { cipher }: Suite,
  record: { readonly key: KeyObject } & Readonly<Record<'nonce' | 'header' | 'body', Buffer>>,
): Buffer | undefined {
  const { key, nonce, header, body } = record
  // The types know each of these modes by its own name only.
  const decipher = createDecipheriv(cipher as 'aes-256-gcm', key, nonce, {
    authTagLength: TAG_BYTES,
  })
  decipher.setAAD(header)
  decipher.setAuthTag(body.subarray(-TAG_BYTES))
  try {
    return Buffer.concat([decipher.update(body.subarray(0, -TAG_BYTES)), decipher.final()])
  } catch {
    return undefined
  }
}

/** The type is the last byte that is not zero. */
function withoutPadding(plain: Buffer): OpenedRecord | undefined {
  let end = plain.length
  while (end > 0 && plain[end - 1] === 0) end -= 1
  const type = plain[end - 1]
  return type === undefined ? undefined : { type, content: plain.subarray(0, end - 1) }
}
