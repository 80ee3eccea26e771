// What a public key of a stranger may cost. The maker of a key chooses what verifying with it costs: an RSA key of 3,072
// bits with an exponent as long takes 7 ms, two hundred times as long as an honest one. So this looks before OpenSSL does.

import { contentOf, type DerElement, DerTag, readDer, readDerSequence } from './der.ts'

const RSA_MODULUS_BITS_MIN = 2048
export const RSA_MODULUS_BITS_MAX = 4096
export const RSA_EXPONENT_BITS_MAX = 32

const RSA_ENCRYPTION = '2a864886f70d010101' // RFC 8017
const RSA: ReadonlySet<string> = new Set([
  RSA_ENCRYPTION,
  '2a864886f70d01010a', // id-RSASSA-PSS
])
const ED25519 = '2b6570' // RFC 8410
const EDWARDS: ReadonlySet<string> = new Set([
  ED25519,
  '2b6571', // Ed448
])
const EC = '2a8648ce3d0201' // id-ecPublicKey, RFC 5480
const P256 = '2a8648ce3d030107'
const P384 = '2b81040022'
const SLOW_CURVES: ReadonlySet<string> = new Set([
  P384,
  '2b81040023', // P-521
])

/**
 * Why the key of a certificate, or of a certificate request, is not to be used; undefined when it may be. `spki` is the
 * SubjectPublicKeyInfo (RFC 5280), DER, and nothing after it.
 */
export function findPublicKeyFault(spki: Uint8Array): string | undefined {
  const parts = readSpki(spki)
  if (parts === undefined) return 'a public key that is not DER'
  const { algorithm, curve, key } = parts
  if (RSA.has(algorithm)) return findRsaFault(spki, key)
  if (EDWARDS.has(algorithm)) return undefined
  if (algorithm !== EC) return 'a public key that is not RSA, ECDSA or EdDSA'
  const isNamed = curve !== undefined && (curve === P256 || SLOW_CURVES.has(curve))
  return isNamed ? undefined : 'an elliptic curve that is not P-256, P-384 or P-521'
}

/** One signature by it takes 0.7 ms on P-384 and 1.5 ms on P-521, seven and sixteen times as long as on P-256. */
export function isOnSlowCurve(spki: Uint8Array): boolean {
  return SLOW_CURVES.has(readSpki(spki)?.curve ?? '')
}

/** Of the keys that we certify: P-256, P-384, Ed25519, RSA of 2048 to 4096 bits. docs/protocol.md ENR-9. */
export type CertifiedKeyType = 'ec' | 'ed25519' | 'rsa'

/** The type of a key that we certify; undefined for any other. Asking OpenSSL for it would cost half of a verified signature. */
export function certifiedKeyTypeOf(spki: Uint8Array): CertifiedKeyType | undefined {
  const parts = readSpki(spki)
  switch (parts?.algorithm) {
    case EC:
      return parts.curve === P256 || parts.curve === P384 ? 'ec' : undefined
    case ED25519:
      return 'ed25519'
    case RSA_ENCRYPTION: {
      const bits = readRsaBits(spki, parts.key)?.modulus ?? 0
      return bits >= RSA_MODULUS_BITS_MIN && bits <= RSA_MODULUS_BITS_MAX ? 'rsa' : undefined
    }
    default:
      return undefined
  }
}

interface SpkiParts {
  /** Object identifiers, the hex of their content. */
  readonly algorithm: string
  readonly curve: string | undefined
  /** The BIT STRING. */
  readonly key: DerElement
}

function readSpki(spki: Uint8Array): SpkiParts | undefined {
  const whole = readDer(spki, 0, spki.length)
  if (whole?.tag !== DerTag.sequence || whole.end !== spki.length) return undefined
  const [algorithm, key] = readDerSequence(spki, whole, [DerTag.sequence, DerTag.bitString]) ?? []
  const identifier = algorithm && readDerSequence(spki, algorithm, [DerTag.objectIdentifier])?.[0]
  if (algorithm === undefined || key === undefined || identifier === undefined) return undefined
  const curve = readDer(spki, identifier.end, algorithm.end)
  return {
    algorithm: hexOf(spki, identifier),
    curve: curve?.tag === DerTag.objectIdentifier ? hexOf(spki, curve) : undefined,
    key,
  }
}

function findRsaFault(spki: Uint8Array, key: DerElement): string | undefined {
  const bits = readRsaBits(spki, key)
  if (bits === undefined) return 'an RSA key that is not DER'
  if (bits.modulus > RSA_MODULUS_BITS_MAX) {
    return `an RSA key of more than ${RSA_MODULUS_BITS_MAX} bits`
  }
  return bits.exponent > RSA_EXPONENT_BITS_MAX
    ? `an RSA exponent of more than ${RSA_EXPONENT_BITS_MAX} bits`
    : undefined
}

/** RSAPublicKey: RFC 8017, A.1.1. */
function readRsaBits(
  spki: Uint8Array,
  key: DerElement,
): { readonly modulus: number; readonly exponent: number } | undefined {
  // The first byte of a BIT STRING says how many bits of its last are unused.
  const inner = readDer(spki, key.start + 1, key.end)
  const numbers =
    inner?.tag === DerTag.sequence
      ? readDerSequence(spki, inner, [DerTag.integer, DerTag.integer])
      : undefined
  const [modulus, exponent] = numbers ?? []
  if (modulus === undefined || exponent === undefined) return undefined
  return { modulus: bitsOf(spki, modulus), exponent: bitsOf(spki, exponent) }
}

/** Of a positive INTEGER; a negative one counts as long as it is. */
function bitsOf(bytes: Uint8Array, { start, end }: DerElement): number {
  const first = bytes.subarray(start, end).findIndex((byte) => byte !== 0)
  if (first < 0) return 0
  return (end - start - first) * 8 - Math.clz32(bytes[start + first] ?? 0) + 24
}

function hexOf(bytes: Uint8Array, element: DerElement): string {
  return contentOf(bytes, element).toString('hex')
}
