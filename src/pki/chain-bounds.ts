// What a chain of certificates may cost whoever verifies it. OpenSSL verifies every signature of it, wherever it leads.

import { DerTag, readDer, readDerSequence } from './der.ts'
import { findPublicKeyFault, isOnSlowCurve } from './public-key-bounds.ts'

export const CHAIN_CERTIFICATES_MAX = 5
/** On P-384 or P-521. */
const SLOW_KEYS_MAX = 3
export const CHAIN_BYTES_MAX = 16 * 1024

/** Why a chain, of certificates in DER, is not to be verified; undefined when it may be. */
export function findChainFault(certificates: readonly Uint8Array[]): string | undefined {
  if (certificates.length > CHAIN_CERTIFICATES_MAX) {
    return `a chain of more than ${CHAIN_CERTIFICATES_MAX} certificates`
  }
  const bytes = certificates.reduce((sum, each) => sum + each.length, 0)
  if (bytes > CHAIN_BYTES_MAX) return `a chain of more than ${CHAIN_BYTES_MAX} bytes`
  let slowKeys = 0
  for (const certificate of certificates) {
    const spki = findPublicKey(certificate)
    const fault = spki === undefined ? 'a certificate that is no DER' : findPublicKeyFault(spki)
    if (fault !== undefined) return fault
    if (spki !== undefined && isOnSlowCurve(spki)) slowKeys += 1
  }
  if (slowKeys > SLOW_KEYS_MAX) {
    return `a chain of more than ${SLOW_KEYS_MAX} keys on P-384 or P-521`
  }
  return undefined
}

const { explicit0, integer, sequence } = DerTag
/** serialNumber, signature, issuer, validity, subject, subjectPublicKeyInfo: RFC 5280 4.1. */
const UP_TO_THE_KEY = [integer, sequence, sequence, sequence, sequence, sequence] as const

/** SubjectPublicKeyInfo, DER. */
function findPublicKey(certificate: Uint8Array): Uint8Array | undefined {
  const whole = readDer(certificate, 0, certificate.length)
  if (whole?.tag !== sequence || whole.end !== certificate.length) return undefined
  const tbs = readDer(certificate, whole.start, whole.end)
  if (tbs?.tag !== sequence) return undefined
  const first = readDer(certificate, tbs.start, tbs.end)
  const start = first?.tag === explicit0 ? first.end : tbs.start
  const fields = readDerSequence(certificate, { start, end: tbs.end }, UP_TO_THE_KEY)
  const [key, before] = [fields?.at(-1), fields?.at(-2)]
  return key && before && certificate.subarray(before.end, key.end)
}
