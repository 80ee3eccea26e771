// Certificate requests that cost whoever reads them as much as they can: signed by their own key, so that nothing but their
// size says what they are.

import {
  createPublicKey,
  generateKeyPairSync,
  type KeyObject,
  randomBytes,
  sign,
} from 'node:crypto'
import { bitString, der, integer, name, NULL, oid, sequence } from './der-writer.ts'

export interface HostileCsrParts {
  /** Contents of the subject: what a Name (RFC 5280) is a sequence of. */
  readonly subject?: Buffer
  readonly attributes?: readonly Buffer[]
  /** SubjectPublicKeyInfo; then nothing is signed, and the signature is noise of this many bytes. */
  readonly foreignKey?: { readonly spki: Buffer; readonly signatureBytes: number }
}

const EXTENSION_REQUEST = oid('2a864886f70d01090e')
const SUBJECT_ALT_NAME = oid('551d11')
const EC_WITH_SHA256 = sequence(oid('2a8648ce3d040302'))
const RSA_WITH_SHA256 = sequence(oid('2a864886f70d01010b'), NULL)

let ownKey: KeyObject | undefined

/** DER. */
export function createHostileCsr({
  subject = name('web-1'),
  attributes = [],
  foreignKey,
}: HostileCsrParts): Buffer {
  ownKey ??= generateKeyPairSync('ec', { namedCurve: 'P-256' }).privateKey
  const own = createPublicKey(ownKey).export({ type: 'spki', format: 'der' })
  const key = foreignKey?.spki ?? own
  const info = sequence(integer(Buffer.from([0])), subject, key, der(0xa0, ...attributes))
  const algorithm = foreignKey === undefined ? EC_WITH_SHA256 : RSA_WITH_SHA256
  const signature =
    foreignKey === undefined ? sign('SHA256', info, ownKey) : randomBytes(foreignKey.signatureBytes)
  return sequence(info, algorithm, bitString(signature))
}

/** As many of them as fit into `bytesMax`. */
export function asManyAs(bytesMax: number, make: (index: number) => Buffer): Buffer[] {
  const made: Buffer[] = []
  let bytes = 0
  for (let index = 0; ; index += 1) {
    const next = make(index)
    bytes += next.length
    if (bytes > bytesMax) return made
    made.push(next)
  }
}

export function requestOfExtensions(...extensions: readonly Buffer[]): Buffer {
  return sequence(EXTENSION_REQUEST, der(0x31, sequence(...extensions)))
}

export function subjectAltName(...names: readonly Buffer[]): Buffer {
  return sequence(SUBJECT_ALT_NAME, der(0x04, sequence(...names)))
}

/** RSA, of random numbers. */
export function rsaKey(modulusBits: number, exponentBits: number): Buffer {
  const number = (bits: number): Buffer => {
    const bytes = randomBytes(bits / 8)
    bytes[0] = 0x80 | (bytes[0] ?? 0)
    bytes[bytes.length - 1] = 1 | (bytes.at(-1) ?? 0)
    return integer(bytes)
  }
  const key = sequence(number(modulusBits), number(exponentBits))
  return sequence(sequence(oid('2a864886f70d010101'), NULL), bitString(key))
}

export function toCsrPem(csr: Buffer): string {
  const label = 'CERTIFICATE REQUEST'
  return `-----BEGIN ${label}-----\n${csr.toString('base64')}\n-----END ${label}-----\n`
}
