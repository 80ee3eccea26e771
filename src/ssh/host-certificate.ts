// Certificates of OpenSSH for hosts (PROTOCOL.certkeys).

import { isKeyType, parsePublicKey, readKey, verifySignature } from './public-key.ts'
import { SshReader, sshString } from './wire.ts'

export interface HostCertificate {
  /** The host's own key, as known_hosts has it. */
  readonly keyBlob: Buffer
  readonly serial: bigint
  readonly isForHost: boolean
  readonly keyId: string
  readonly principals: readonly string[]
  /** Seconds since 1970. */
  readonly validAfter: bigint
  readonly validBefore: bigint
  readonly hasCriticalOptions: boolean
  readonly authorityBlob: Buffer
  readonly signed: Buffer
  readonly signature: Buffer
}

const SUFFIX = '-cert-v01@openssh.com'
const HOST = 2

/** Undefined for what is none, or of a key that does not count. */
export function parseHostCertificate(bytes: Buffer): HostCertificate | undefined {
  const reader = new SshReader(bytes)
  const name = reader.text()
  const type = name.endsWith(SUFFIX) ? name.slice(0, -SUFFIX.length) : ''
  if (!isKeyType(type)) return undefined
  reader.string()
  const start = reader.position
  const isKey = readKey(type, reader) !== undefined
  const keyBlob = Buffer.concat([sshString(type), bytes.subarray(start, reader.position)])
  const serial = reader.uint64()
  const isForHost = reader.uint32() === HOST
  const keyId = reader.text()
  const principals = reader.strings()
  const [validAfter, validBefore] = [reader.uint64(), reader.uint64()]
  const hasCriticalOptions = reader.string().length > 0
  // Extensions and what is reserved: to be ignored where they are not known.
  reader.string()
  reader.string()
  const authorityBlob = reader.string()
  const signed = bytes.subarray(0, reader.position)
  const signature = reader.string()
  if (!isKey || !reader.isComplete) return undefined
  const times = { validAfter, validBefore }
  const said = { serial, isForHost, keyId, principals, ...times, hasCriticalOptions }
  return { keyBlob, ...said, authorityBlob, signed, signature }
}

/** Whatever names it has; undefined when it is good. */
export function findHostCertificateFault(
  certificate: HostCertificate,
  now: Date,
): string | undefined {
  const { isForHost, hasCriticalOptions, validAfter, validBefore, authorityBlob } = certificate
  if (!isForHost) return 'a certificate of a user in place of a host’s'
  // OpenSSH has none for hosts.
  if (hasCriticalOptions) return 'a critical option that is not known'
  const seconds = BigInt(Math.floor(now.getTime() / 1000))
  if (seconds < validAfter) return 'a certificate that is not valid yet'
  if (seconds >= validBefore) return 'a certificate that is expired'
  const authority = parsePublicKey(authorityBlob)
  if (authority === undefined) return 'a CA whose key does not count'
  return verifySignature(authority, certificate.signed, certificate.signature)
    ? undefined
    : 'not signed by its CA'
}
