// The key that a TPM is known by (EK), and the certificate that its maker gave it. TCG EK Credential Profile for TPM Family 2.0.

import { createPublicKey, hash, type KeyObject, X509Certificate } from 'node:crypto'
import { readCertificateFields, readCertificateNames } from '../pki/certificate-fields.ts'
import { findPublicKeyFault } from '../pki/public-key-bounds.ts'

export interface EndorsementKey {
  /** SHA-256 of the SubjectPublicKeyInfo, hex: what an operator lists. */
  readonly sha256: string
  readonly publicKey: KeyObject
}

/** Those of makers have 1 to 2 KiB. */
export const EK_CERTIFICATE_BYTES_MAX = 4096
/** SubjectPublicKeyInfo of RSA 2048: 294. */
export const EK_PUBLIC_BYTES_MAX = 512

const RSA_BITS = 2048
/** What a TPM takes for its default, and any maker makes. */
const RSA_EXPONENT = 65_537n
/** In the name of a signature's algorithm, as OpenSSL has it. */
const SHA_2 = /sha(?:256|384|512)/i
const EK_PURPOSE = '2.23.133.8.1'
/** Names that the maker put into the certificate are for people: bounded, and not looked at. */
const NAME_BYTES_MAX = 1024

/**
 * Of template L-1, which every TPM of a PC or server has; undefined for any other key. A TPM may have several EKs, of other templates,
 * and is one host. `spki` is a SubjectPublicKeyInfo, DER.
 */
export function parseEndorsementKey(spki: Uint8Array): EndorsementKey | undefined {
  if (spki.length > EK_PUBLIC_BYTES_MAX || findPublicKeyFault(spki) !== undefined) return undefined
  try {
    const publicKey = createPublicKey({ key: Buffer.from(spki), format: 'der', type: 'spki' })
    const { modulusLength, publicExponent } = publicKey.asymmetricKeyDetails ?? {}
    const isOfTemplate =
      publicKey.asymmetricKeyType === 'rsa' &&
      modulusLength === RSA_BITS &&
      publicExponent === RSA_EXPONENT
    // One key has one hash: another spelling of it is none.
    const der = publicKey.export({ format: 'der', type: 'spki' })
    return isOfTemplate && der.equals(spki) ? { sha256: hash('sha256', der), publicKey } : undefined
  } catch {
    return undefined
  }
}

export interface EkCertificate {
  readonly x509: X509Certificate
  readonly key: EndorsementKey
  /** The name of the CA, DER. */
  readonly issuer: Uint8Array
}

/** Undefined for what is no certificate of an EK; whose signature it has is not looked at. */
export function parseEkCertificate(der: Uint8Array): EkCertificate | undefined {
  if (der.length > EK_CERTIFICATE_BYTES_MAX) return undefined
  const fields = readCertificateFields(der)
  const issuer = readCertificateNames(der)?.issuer
  if (fields === undefined || issuer === undefined || fields.nameBytes > NAME_BYTES_MAX)
    return undefined
  const key = parseEndorsementKey(fields.spki)
  if (key === undefined) return undefined
  try {
    const x509 = new X509Certificate(der)
    if (!SHA_2.test(x509.signatureAlgorithm ?? '')) return undefined
    // A certificate that may sign others is none of a TPM; nor one that is for something else, such as TLS.
    const isForEk = x509.keyUsage?.includes(EK_PURPOSE) ?? false
    return isForEk && !x509.ca ? { x509, key, issuer } : undefined
  } catch {
    return undefined
  }
}

/** By this CA, which may be an intermediate. One signature is verified when the certificate names it. */
export function isIssuedBy(
  { x509 }: EkCertificate,
  authority: X509Certificate,
  now: Date,
): boolean {
  const areCurrent = isCurrent(x509, now) && isCurrent(authority, now)
  return areCurrent && x509.checkIssued(authority) && x509.verify(authority.publicKey)
}

function isCurrent({ validFromDate, validToDate }: X509Certificate, now: Date): boolean {
  return validFromDate <= now && now <= validToDate
}
