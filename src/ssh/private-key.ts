// A private host key as OpenSSH keeps it (PROTOCOL.key): Node reads PEM alone. Never one with a passphrase, which no host key has.

import { createPrivateKey, createPublicKey, type JsonWebKey, type KeyObject } from 'node:crypto'
import { isKeyType, parsePublicKey, readKey, type SshPublicKey } from './public-key.ts'
import { sshNumber, SshReader, sshString } from './wire.ts'

export interface SshPrivateKey {
  readonly keyObject: KeyObject
  readonly key: SshPublicKey
}

export type ReadPrivateKey =
  | { readonly ok: true; readonly key: SshPrivateKey }
  | { readonly ok: false; readonly fault: string }

const ARMOUR =
  /-----BEGIN OPENSSH PRIVATE KEY-----([A-Za-z0-9+/=\s]+)-----END OPENSSH PRIVATE KEY-----/
const MAGIC = 'openssh-key-v1\0'
const OTHERS = 'not an Ed25519, ECDSA (P-256, P-384) or RSA (2048 to 4096 bits) key of OpenSSH'

/** Of OpenSSH's own form, or the PEM that it wrote until 2018. */
export function parseSshPrivateKey(text: string): ReadPrivateKey {
  const base64 = ARMOUR.exec(text)?.[1]
  try {
    if (base64 !== undefined) return readOpenSshKey(Buffer.from(base64, 'base64'))
    if (/ENCRYPTED/.test(text)) return refuse('encrypted')
    return fromPem(createPrivateKey(text))
  } catch {
    return refuse(OTHERS)
  }
}

function refuse(fault: string): ReadPrivateKey {
  return { ok: false, fault }
}

function readOpenSshKey(bytes: Buffer): ReadPrivateKey {
  const reader = new SshReader(bytes)
  if (reader.bytes(MAGIC.length).toString('latin1') !== MAGIC) return refuse(OTHERS)
  const [cipher] = [reader.text(), reader.text(), reader.string()]
  if (cipher !== 'none') return refuse('encrypted')
  const isOne = reader.uint32() === 1
  const key = parsePublicKey(reader.string())
  const inner = new SshReader(reader.string())
  const isSame = inner.uint32() === inner.uint32()
  const type = inner.text()
  if (!isOne || !isSame || key === undefined || !isKeyType(type)) return refuse(OTHERS)
  const jwk = readPrivate(type, inner)
  return jwk === undefined
    ? refuse(OTHERS)
    : { ok: true, key: { key, keyObject: createPrivateKey({ key: jwk, format: 'jwk' }) } }
}

function readPrivate(type: SshPublicKey['type'], reader: SshReader): JsonWebKey | undefined {
  // An RSA key has its numbers in another order here than in public.
  if (type === 'ssh-rsa') return readRsa(reader)
  const open = readKey(type, reader)
  const secret = reader.string()
  const d = type === 'ssh-ed25519' ? secret.subarray(0, 32) : secret
  return open && { ...open, d: padded(d, open).toString('base64url') }
}

/** A JWK has the number as long as the curve's; OpenSSH has a zero before some, and leaves zeros out. */
function padded(d: Buffer, { x = '' }: JsonWebKey): Buffer {
  const length = Buffer.from(x, 'base64url').length
  const digits = d.subarray(Math.max(0, d.length - length))
  return Buffer.concat([Buffer.alloc(length - digits.length), digits])
}

function readRsa(reader: SshReader): JsonWebKey {
  const [n, e, d, qi, p, q] = Array.from({ length: 6 }, () => toBigInt(reader.number()))
  const values = { n, e, d, qi, p, q, dp: mod(d, p), dq: mod(d, q) }
  const texts = Object.entries(values).map(([name, value]) => [name, toText(value)])
  return { kty: 'RSA', ...Object.fromEntries(texts) } as JsonWebKey
}

function mod(d = 0n, prime = 1n): bigint {
  return prime > 1n ? d % (prime - 1n) : 0n
}

function toBigInt(bytes: Buffer): bigint {
  return BigInt(`0x0${bytes.toString('hex')}`)
}

function toText(value = 0n): string {
  const hex = value.toString(16)
  return Buffer.from(hex.padStart(hex.length + (hex.length % 2), '0'), 'hex').toString('base64url')
}

function fromPem(keyObject: KeyObject): ReadPrivateKey {
  const jwk = createPublicKey(keyObject).export({ format: 'jwk' })
  const blob = publicBlobOf(jwk)
  const key = blob && parsePublicKey(blob)
  return key === undefined ? refuse(OTHERS) : { ok: true, key: { key, keyObject } }
}

function publicBlobOf({
  kty,
  crv,
  x = '',
  y = '',
  n = '',
  e = '',
}: JsonWebKey): Buffer | undefined {
  const bytes = (text: string): Buffer => Buffer.from(text, 'base64url')
  if (kty === 'RSA') {
    return Buffer.concat([sshString('ssh-rsa'), sshNumber(bytes(e)), sshNumber(bytes(n))])
  }
  if (crv === 'Ed25519') return Buffer.concat([sshString('ssh-ed25519'), sshString(bytes(x))])
  if (crv !== 'P-256' && crv !== 'P-384') return undefined
  const name = `nistp${crv.slice(2)}`
  const point = Buffer.concat([Buffer.from([4]), bytes(x), bytes(y)])
  return Buffer.concat([`ecdsa-sha2-${name}`, name, point].map(sshString))
}
