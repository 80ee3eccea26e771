// Public keys and signatures of OpenSSH: RFC 4253, 5656, 8332, 8709. Ed25519, ECDSA on P-256 and P-384, RSA of 2,048 to 4,096 bits with
// SHA-2; whatever else there is does not count.

import { createPublicKey, hash, type JsonWebKey, type KeyObject, verify } from 'node:crypto'
import { SshReader } from './wire.ts'

export interface SshPublicKey {
  readonly type: SshKeyType
  /** As it stands in known_hosts, decoded. */
  readonly blob: Buffer
  readonly keyObject: KeyObject
}

export const CURVES = {
  'ecdsa-sha2-nistp256': { name: 'nistp256', curve: 'P-256', bytes: 32, digest: 'sha256' },
  'ecdsa-sha2-nistp384': { name: 'nistp384', curve: 'P-384', bytes: 48, digest: 'sha384' },
} as const
type EcType = keyof typeof CURVES
export type SshKeyType = 'ssh-ed25519' | 'ssh-rsa' | EcType

const RSA_BITS_MIN = 2048
const RSA_BITS_MAX = 4096
const RSA_EXPONENT_BYTES_MAX = 4
/** Never SHA-1, which `ssh-rsa` is as the name of a signature. */
const RSA_DIGESTS: ReadonlyMap<string, string> = new Map([
  ['rsa-sha2-256', 'sha256'],
  ['rsa-sha2-512', 'sha512'],
])

/** Undefined for what is no key of these, also for one in a certificate. */
export function parsePublicKey(blob: Buffer): SshPublicKey | undefined {
  const reader = new SshReader(blob)
  const type = reader.text()
  if (!isKeyType(type)) return undefined
  const jwk = readKey(type, reader)
  return reader.isComplete && jwk !== undefined ? toPublicKey(type, blob, jwk) : undefined
}

export function isKeyType(type: string): type is SshKeyType {
  return type === 'ssh-ed25519' || type === 'ssh-rsa' || isEcType(type)
}

/** What follows the type, in keys and in certificates alike. */
export function readKey(type: SshKeyType, reader: SshReader): JsonWebKey | undefined {
  const text = (bytes: Buffer): string => bytes.toString('base64url')
  if (type === 'ssh-ed25519') {
    const x = reader.string()
    return x.length === 32 ? { kty: 'OKP', crv: 'Ed25519', x: text(x) } : undefined
  }
  if (type === 'ssh-rsa') {
    const [e, n] = [reader.number(), reader.number()]
    const bits = n.length * 8 - Math.clz32(n[0] ?? 0) + 24
    const isHonest = bits >= RSA_BITS_MIN && bits <= RSA_BITS_MAX && n[0] !== 0
    const isQuick = e.length >= 1 && e.length <= RSA_EXPONENT_BYTES_MAX
    return isHonest && isQuick ? { kty: 'RSA', n: text(n), e: text(e) } : undefined
  }
  const { name, curve, bytes } = CURVES[type]
  const isNamed = reader.text() === name
  const point = reader.string()
  if (!isNamed || point.length !== 1 + 2 * bytes || point[0] !== 4) return undefined
  const [x, y] = [point.subarray(1, 1 + bytes), point.subarray(1 + bytes)]
  return { kty: 'EC', crv: curve, x: text(x), y: text(y) }
}

function toPublicKey(type: SshKeyType, blob: Buffer, jwk: JsonWebKey): SshPublicKey | undefined {
  try {
    return { type, blob, keyObject: createPublicKey({ key: jwk, format: 'jwk' }) }
  } catch {
    // A point that is not on its curve.
    return undefined
  }
}

/** As ssh-keygen -l prints it. */
export function fingerprintOf(blob: Uint8Array): string {
  return `SHA256:${hash('sha256', blob, 'base64').replace(/=+$/, '')}`
}

/** `signature` names its own algorithm, which has to be one of the key. */
export function verifySignature(
  { type, keyObject: key }: SshPublicKey,
  data: Uint8Array,
  signature: Buffer,
): boolean {
  const reader = new SshReader(signature)
  const [algorithm, bytes] = [reader.text(), reader.string()]
  if (!reader.isComplete) return false
  if (type === 'ssh-rsa') {
    const digest = RSA_DIGESTS.get(algorithm)
    return digest !== undefined && verify(digest, data, key, bytes)
  }
  if (algorithm !== type) return false
  if (!isEcType(type)) return verify(null, data, key, bytes)
  const parts = readEcSignature(type, bytes)
  return parts !== undefined && verifyEc(CURVES[type].digest, data, key, parts)
}

function verifyEc(digest: string, data: Uint8Array, key: KeyObject, signature: Buffer): boolean {
  return verify(digest, data, { key, dsaEncoding: 'ieee-p1363' }, signature)
}

/** r and s, each as long as the field. */
function readEcSignature(type: EcType, bytes: Buffer): Buffer | undefined {
  const reader = new SshReader(bytes)
  const numbers = [reader.number(), reader.number()]
  const length = CURVES[type].bytes
  if (!reader.isComplete || numbers.some((each) => each.length > length)) return undefined
  return Buffer.concat(numbers.flatMap((each) => [Buffer.alloc(length - each.length), each]))
}

function isEcType(type: string): type is EcType {
  return Object.hasOwn(CURVES, type)
}
