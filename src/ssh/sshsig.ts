// Signatures of `ssh-keygen -Y sign` (PROTOCOL.sshsig). The namespace says what they are for: one that was made for an e-mail or a
// commit does not count here.

import { hash, sign } from 'node:crypto'
import type { SshPrivateKey } from './private-key.ts'
import { CURVES, parsePublicKey, type SshPublicKey, verifySignature } from './public-key.ts'
import { sshNumber, SshReader, sshString } from './wire.ts'

const MAGIC = 'SSHSIG'
const VERSION = 1
const HASHES: ReadonlySet<string> = new Set(['sha256', 'sha512'])

export interface Sshsig {
  readonly key: SshPublicKey
  readonly namespace: string
  readonly hash: string
  readonly signature: Buffer
}

/** Without its armour; undefined for what is none, or is by a key that does not count. */
export function parseSshsig(bytes: Buffer): Sshsig | undefined {
  const reader = new SshReader(bytes)
  const isOurs = reader.bytes(MAGIC.length).toString('latin1') === MAGIC
  if (!isOurs || reader.uint32() !== VERSION) return undefined
  const key = parsePublicKey(reader.string())
  const namespace = reader.text()
  const reserved = reader.string()
  const [name, signature] = [reader.text(), reader.string()]
  const isWhole = reader.isComplete && reserved.length === 0 && HASHES.has(name)
  return isWhole && key !== undefined ? { key, namespace, hash: name, signature } : undefined
}

export function verifySshsig(
  { key, namespace, hash: name, signature }: Sshsig,
  message: Uint8Array,
): boolean {
  return verifySignature(key, signedBytes(namespace, name, message), signature)
}

/** The same as ssh-keygen makes, without its armour. */
export function createSshsig(
  { key: { type, blob }, keyObject: key }: SshPrivateKey,
  namespace: string,
  message: Uint8Array,
): Buffer {
  const data = signedBytes(namespace, 'sha512', message)
  const signature = (): Buffer => {
    if (type === 'ssh-ed25519') return algorithm(type, sign(null, data, key))
    if (type === 'ssh-rsa') return algorithm('rsa-sha2-512', sign('sha512', data, key))
    const { digest, bytes } = CURVES[type]
    const both = sign(digest, data, { key, dsaEncoding: 'ieee-p1363' })
    const [r, s] = [both.subarray(0, bytes), both.subarray(bytes)]
    return algorithm(type, Buffer.concat([sshNumber(r), sshNumber(s)]))
  }
  const version = Buffer.alloc(4)
  version.writeUInt32BE(VERSION)
  const fields = [blob, namespace, '', 'sha512', signature()].map(sshString)
  return Buffer.concat([Buffer.from(MAGIC), version, ...fields])
}

function algorithm(name: string, signature: Uint8Array): Buffer {
  return Buffer.concat([sshString(name), sshString(signature)])
}

function signedBytes(namespace: string, name: string, message: Uint8Array): Buffer {
  const digest = hash(name, message, 'buffer')
  return Buffer.concat([Buffer.from(MAGIC), ...[namespace, '', name, digest].map(sshString)])
}
