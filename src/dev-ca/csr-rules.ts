// What a CSR may say under a token: its CN is one of the token's names, its own names are none or exactly the token's.

import 'reflect-metadata'
import { Pkcs10CertificateRequest } from '@peculiar/x509'
import { createPublicKey } from 'node:crypto'
import { isIP } from 'node:net'
import { canonicalIpv6 } from '../platform/canonical-ipv6.ts'
import { type CertificateRequest, parseCsrPem } from '../pki/csr.ts'
import { isAcceptablePublicKey } from '../pki/keys.ts'
import { refuse, type Refusal } from './reply.ts'
import type { TokenClaims } from './token-verifier.ts'

/** Also with underscores, or with a wildcard for its first label. */
const DNS_NAME = /^(?:\*\.)?[A-Za-z0-9_.-]{1,253}$/

export type ReadCsr = CertificateRequest | 'malformed' | 'unacceptable_key'

export function readCsr(pem: string): ReadCsr {
  const csr = parseCsrPem(pem)
  return csr ?? (hasUnacceptableKey(pem) ? 'unacceptable_key' : 'malformed')
}

/** Why the CSR may not be signed under this token, or undefined when it may. */
export function findCsrFault(csr: CertificateRequest, claims: TokenClaims): Refusal | undefined {
  const fingerprint = Buffer.from(csr.sha256, 'hex').toString('base64url')
  // As in step-ca, an empty fingerprint binds nothing.
  if (claims.csrFingerprint && claims.csrFingerprint !== fingerprint) {
    return refuse(403, 'certificate request fingerprint does not match the token')
  }
  if (!claims.sans.every((name) => isIP(name) !== 0 || DNS_NAME.test(name))) {
    return refuse(403, 'token names something that is neither a DNS name nor an IP address')
  }
  const allowedNames = new Set([claims.subject, ...claims.sans])
  if (!commonNamesOf(csr).every((name) => allowedNames.has(name))) {
    return refuse(403, 'certificate request does not contain the valid common name')
  }
  if (csr.sans?.length !== 0 && !isSameSet(csr.sans, claims.sans)) {
    return refuse(403, 'certificate request does not contain the valid names')
  }
  return undefined
}

/** All of them: a request without a CN is fine, since the certificate takes its CN from the token. */
function commonNamesOf(csr: CertificateRequest): string[] {
  return new Pkcs10CertificateRequest(csr.der).subjectName.getField('CN').filter((cn) => cn !== '')
}

function isSameSet(actual: readonly string[] | undefined, expected: readonly string[]): boolean {
  return actual !== undefined && canonicalSet(actual) === canonicalSet(expected)
}

function canonicalSet(names: readonly string[]): string {
  return [...new Set(names.map(canonicalIpv6))].sort().join(' ')
}

function hasUnacceptableKey(pem: string): boolean {
  try {
    const csr = new Pkcs10CertificateRequest(pem)
    const key = Buffer.from(csr.publicKey.rawData)
    return !isAcceptablePublicKey(createPublicKey({ key, type: 'spki', format: 'der' }))
  } catch {
    // Not a CSR at all, so there is no key to judge.
    return false
  }
}
