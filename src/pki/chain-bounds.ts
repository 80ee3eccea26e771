// What a chain of certificates may cost the side that verifies it. OpenSSL verifies every signature in a chain, wherever it leads, and
// compares every name with every constraint.

import { readCertificateFields } from './certificate-fields.ts'
import { findPublicKeyFault, isOnSlowCurve } from './public-key-bounds.ts'

export const CHAIN_CERTIFICATES_MAX = 5
export const CHAIN_BYTES_MAX = 16 * 1024
/** On P-384 or P-521. */
const SLOW_KEYS_MAX = 3
/** Bytes of names times bytes of constraints: ten thousand comparisons of the shortest, about a millisecond. */
const NAME_COMPARISONS_MAX = 2 ** 18
/** Blocks of addresses and AS numbers, RFC 3779: each chain is walked for them, and no host's certificate has any. */
const RESOURCE_EXTENSIONS = ['2b06010505070107', '2b06010505070108']

/** Why a chain, of certificates in DER, is not to be verified; undefined when it may be. */
export function findChainFault(certificates: readonly Uint8Array[]): string | undefined {
  if (certificates.length > CHAIN_CERTIFICATES_MAX) {
    return `a chain of more than ${CHAIN_CERTIFICATES_MAX} certificates`
  }
  const bytes = certificates.reduce((sum, each) => sum + each.length, 0)
  if (bytes > CHAIN_BYTES_MAX) return `a chain of more than ${CHAIN_BYTES_MAX} bytes`
  let [slowKeys, nameBytes, constraintBytes] = [0, 0, 0]
  for (const certificate of certificates) {
    const fields = readCertificateFields(certificate)
    if (fields === undefined) return 'a certificate that is not DER'
    const fault = findPublicKeyFault(fields.spki)
    if (fault !== undefined) return fault
    if (RESOURCE_EXTENSIONS.some((each) => fields.extensions.has(each))) {
      return 'a certificate with blocks of addresses'
    }
    if (isOnSlowCurve(fields.spki)) slowKeys += 1
    nameBytes += fields.nameBytes
    constraintBytes += fields.constraintBytes
  }
  if (slowKeys > SLOW_KEYS_MAX) {
    return `a chain with more than ${SLOW_KEYS_MAX} keys on P-384 or P-521`
  }
  return nameBytes * constraintBytes > NAME_COMPARISONS_MAX
    ? 'a chain with too many names and constraints'
    : undefined
}
