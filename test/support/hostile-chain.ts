// Chains of certificates that cost whoever verifies them as much as they can. Their signatures are noise: OpenSSL verifies
// each all the same.

import { generateKeyPairSync, randomBytes } from 'node:crypto'
import { bitString, der, integer, name, NULL, oid, sequence } from './der-writer.ts'

export const HOSTILE_SHAPES = [
  'rsa-3072 with an exponent as long',
  'rsa-4096',
  'rsa-16384',
  'p-384',
  'p-521',
  'p-256 with its curve spelled out',
  'p-256',
  'p-256 with names and constraints',
] as const
export type HostileShape = (typeof HOSTILE_SHAPES)[number]

export interface HostileChain {
  /** A leaf with an honest key, and `length` intermediates below a root that nobody knows; PEM. */
  readonly certificatePem: string
  /** The leaf's. */
  readonly keyPem: string
}

interface Authority {
  readonly spki: Buffer
  /** AlgorithmIdentifier of what it signs. */
  readonly algorithm: Buffer
  readonly signature: () => Buffer
}

export function createHostileChain(shape: HostileShape, length: number): HostileChain {
  const { publicKey, privateKey } = generateKeyPairSync('ec', { namedCurve: 'P-256' })
  const certificates = [
    createCertificate('leaf', 'ca-0', publicKey.export({ type: 'spki', format: 'der' }), shape),
    ...Array.from({ length }, (_, at) =>
      createCertificate(`ca-${at}`, `ca-${at + 1}`, AUTHORITIES[shape]().spki, shape),
    ),
  ]
  return {
    certificatePem: certificates.map(toPem).join(''),
    keyPem: privateKey.export({ type: 'pkcs8', format: 'pem' }).toString(),
  }
}

function createCertificate(
  subject: string,
  issuer: string,
  spki: Buffer,
  shape: HostileShape,
): Buffer {
  const { algorithm, signature } = AUTHORITIES[shape]()
  const isAuthority = subject !== 'leaf'
  const extensions = [
    ...(isAuthority ? [extension('551d13', sequence(der(0x01, Buffer.from([0xff]))))] : []),
    ...(shape === 'p-256 with names and constraints' ? [namesOrConstraints(subject)] : []),
  ]
  const tbs = sequence(
    der(0xa0, integer(Buffer.from([2]))),
    integer(randomNumber(8, 0x40)),
    algorithm,
    name(issuer),
    sequence(der(0x17, Buffer.from('200101000000Z')), der(0x17, Buffer.from('491231235959Z'))),
    name(subject),
    spki,
    ...(extensions.length > 0 ? [der(0xa3, sequence(...extensions))] : []),
  )
  return sequence(tbs, algorithm, bitString(signature()))
}

const AUTHORITIES: Readonly<Record<HostileShape, () => Authority>> = {
  'rsa-3072 with an exponent as long': () => createRsa(3072 / 8, randomNumber(3072 / 8, 0x40)),
  'rsa-4096': () => createRsa(4096 / 8, Buffer.from('010001', 'hex')),
  'rsa-16384': () => createRsa(16_384 / 8, Buffer.alloc(8, 0xff)),
  'p-384': () => createEc('P-384', 'named'),
  'p-521': () => createEc('P-521', 'named'),
  'p-256 with its curve spelled out': () => createEc('P-256', 'explicit'),
  'p-256': () => createEc('P-256', 'named'),
  'p-256 with names and constraints': () => createEc('P-256', 'named'),
}

function createRsa(bytes: number, exponent: Buffer): Authority {
  const key = sequence(integer(randomNumber(bytes, 0xc0)), integer(exponent))
  return {
    spki: sequence(sequence(oid('2a864886f70d010101'), NULL), bitString(key)),
    algorithm: sequence(oid('2a864886f70d01010b'), NULL),
    // Less than any modulus that begins with 0xc0.
    signature: () => randomNumber(bytes, 0x80),
  }
}

function createEc(namedCurve: string, paramEncoding: 'named' | 'explicit'): Authority {
  const { publicKey } = generateKeyPairSync('ec', { namedCurve, paramEncoding })
  const half = (): Buffer => integer(randomNumber(31, 0x40))
  return {
    spki: publicKey.export({ type: 'spki', format: 'der' }),
    algorithm: sequence(oid('2a8648ce3d040302')),
    signature: () => sequence(half(), half()),
  }
}

function extension(identifier: string, value: Buffer): Buffer {
  return sequence(oid(identifier), der(0x01, Buffer.from([0xff])), der(0x04, value))
}

/** As many as 16 KiB hold, each of which OpenSSL compares with each: SmtpUTF8Mailbox (RFC 8398) against punycode. */
function namesOrConstraints(subject: string): Buffer {
  if (subject === 'leaf') {
    const mailbox = der(0xa0, oid('2b06010505070809'), der(0xa0, der(0x0c, Buffer.from('@1'))))
    return extension('551d11', sequence(...Array.from({ length: 400 }, () => mailbox)))
  }
  if (subject !== 'ca-0') return extension('551d1e', sequence())
  const host = sequence(der(0x81, Buffer.from(`xn--${'a'.repeat(58)}`)))
  return extension('551d1e', sequence(der(0xa1, ...Array.from({ length: 100 }, () => host))))
}

/** Odd, and with these highest bits. */
function randomNumber(byteCount: number, highest: number): Buffer {
  const bytes = randomBytes(byteCount)
  bytes[0] = highest | ((bytes[0] ?? 0) & 0x3f)
  bytes[byteCount - 1] = (bytes[byteCount - 1] ?? 0) | 1
  return bytes
}

function toPem(certificate: Buffer): string {
  const lines = certificate.toString('base64').match(/.{1,64}/g) ?? []
  return `-----BEGIN CERTIFICATE-----\n${lines.join('\n')}\n-----END CERTIFICATE-----\n`
}
