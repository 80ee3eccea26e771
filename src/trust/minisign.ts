// Signatures of minisign (https://jedisct1.github.io/minisign/): Ed25519 over the BLAKE2b-512 of a file (`ED`), or over
// the file itself (legacy `Ed`). Read strictly: text that minisign itself would not have written is refused, so that
// no byte of a signature file can change unseen.

import { hash, createPublicKey, type KeyObject, verify } from 'node:crypto'

export interface MinisignPublicKey {
  readonly keyId: Buffer
  readonly key: KeyObject
}

export interface MinisignSignature {
  readonly algorithm: 'prehashed' | 'legacy'
  readonly keyId: Buffer
  readonly signature: Buffer
  readonly trustedComment: string
  readonly globalSignature: Buffer
}

export type SignatureVerdict =
  | { readonly ok: true; readonly trustedComment: string }
  | { readonly ok: false; readonly reason: string }

export const SIGNATURE_FILE_BYTES_MAX = 4096

const ALGORITHMS: Readonly<Record<string, MinisignSignature['algorithm']>> = {
  ED: 'prehashed',
  Ed: 'legacy',
}
const ALGORITHM_BYTES = 2
const KEY_ID_BYTES = 8
const KEY_BYTES = 32
const SIGNATURE_BYTES = 64
/** What comes before the 32 bytes of an Ed25519 key in a SubjectPublicKeyInfo (RFC 8410). */
const ED25519_SPKI_HEADER = Buffer.from('302a300506032b6570032100', 'hex')
/** Nothing vouches for this line, so it may only be what minisign writes when it is not told otherwise. */
const UNTRUSTED_COMMENT = 'untrusted comment: signature from minisign secret key'
const TRUSTED_COMMENT_START = 'trusted comment: '
/** What a file has lines of: printable characters and the tabs that minisign writes, no line ends and no other controls. */
const ONE_LINE = /^(?:\t|[^\p{Cc}\p{Cs}\u{2028}\u{2029}\u{FFFD}])*$/u

/** The base64 line of a `.pub` file; undefined for a text that is not such a file. */
export function parseMinisignPublicKey(line: string): MinisignPublicKey | undefined {
  const bytes = decodeBase64(line, ALGORITHM_BYTES + KEY_ID_BYTES + KEY_BYTES)
  if (bytes === undefined || bytes.toString('latin1', 0, ALGORITHM_BYTES) !== 'Ed') return undefined
  const keyStart = ALGORITHM_BYTES + KEY_ID_BYTES
  return {
    keyId: bytes.subarray(ALGORITHM_BYTES, keyStart),
    key: createPublicKey({
      key: Buffer.concat([ED25519_SPKI_HEADER, bytes.subarray(keyStart)]),
      format: 'der',
      type: 'spki',
    }),
  }
}

/** The content of a `.minisig` file; undefined for a text that is not such a file. */
export function parseMinisignSignature(file: Uint8Array): MinisignSignature | undefined {
  if (file.length > SIGNATURE_FILE_BYTES_MAX) return undefined
  const text = Buffer.from(file).toString('utf8')
  const [untrusted, signed, trusted, globalSigned, end, ...more] = text.split('\n')
  if (untrusted !== UNTRUSTED_COMMENT || end !== '' || more.length > 0) return undefined
  if (trusted?.startsWith(TRUSTED_COMMENT_START) !== true || !ONE_LINE.test(trusted)) {
    return undefined
  }
  const bytes = decodeBase64(signed, ALGORITHM_BYTES + KEY_ID_BYTES + SIGNATURE_BYTES)
  const globalSignature = decodeBase64(globalSigned, SIGNATURE_BYTES)
  const algorithm = ALGORITHMS[bytes?.toString('latin1', 0, ALGORITHM_BYTES) ?? '']
  if (bytes === undefined || globalSignature === undefined || algorithm === undefined) {
    return undefined
  }
  const signatureStart = ALGORITHM_BYTES + KEY_ID_BYTES
  return {
    algorithm,
    keyId: bytes.subarray(ALGORITHM_BYTES, signatureStart),
    signature: bytes.subarray(signatureStart),
    trustedComment: trusted.slice(TRUSTED_COMMENT_START.length),
    globalSignature,
  }
}

/** Whether `content` was signed by this key, and the trusted comment with it. */
export function verifyMinisign(
  publicKey: MinisignPublicKey,
  content: Uint8Array,
  signatureFile: Uint8Array,
): SignatureVerdict {
  const signature = parseMinisignSignature(signatureFile)
  if (signature === undefined) return { ok: false, reason: 'it is not a signature of minisign' }
  if (!signature.keyId.equals(publicKey.keyId)) {
    return { ok: false, reason: 'it is by another key' }
  }
  const signed =
    signature.algorithm === 'prehashed' ? hash('blake2b512', content, 'buffer') : content
  if (!verify(null, signed, publicKey.key, signature.signature)) {
    return { ok: false, reason: 'it is for another file' }
  }
  const commented = Buffer.concat([signature.signature, Buffer.from(signature.trustedComment)])
  if (!verify(null, commented, publicKey.key, signature.globalSignature)) {
    return { ok: false, reason: 'somebody changed its trusted comment' }
  }
  return { ok: true, trustedComment: signature.trustedComment }
}

/** Only the one spelling that an encoder writes: base64 has several for the same bytes. */
function decodeBase64(text: string | undefined, bytes: number): Buffer | undefined {
  if (text === undefined) return undefined
  const decoded = Buffer.from(text, 'base64')
  return decoded.length === bytes && decoded.toString('base64') === text ? decoded : undefined
}
