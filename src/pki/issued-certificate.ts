// What came back from an issuer is checked before anyone stores it: the hub checks the CA, the agent checks the hub.

import { canonicalIpv6 } from '../platform/canonical-ipv6.ts'
import { type Certificate, hasCommonName, subjectAltNamesOf } from './certificates.ts'

export interface IssuedCertificateExpectation {
  /** SubjectPublicKeyInfo of the CSR, DER. */
  readonly publicKeySpki: Buffer
  readonly commonName: string
  /** There may be no CN at all, if the name is among the others: RFC 9525 looks at those alone, and some CAs give no CN. */
  readonly isCommonNameOptional?: boolean
  /** When given, exactly these names must be in the certificate, in any order. */
  readonly sans?: readonly string[]
  readonly roots: readonly Certificate[]
  readonly now: Date
  /** How far the issuer's clock may be ahead of this host's. */
  readonly clockSkewMsMax: number
}

/** Why a leaf with its intermediates is not what was asked for, or undefined when it is. */
export function findIssuedCertificateFault(
  chain: readonly Certificate[],
  expected: IssuedCertificateExpectation,
): string | undefined {
  const [leaf, ...intermediates] = chain
  if (leaf === undefined) return 'no certificate'
  if (!leaf.publicKeySpki.equals(expected.publicKeySpki))
    return 'the certificate is for another key'
  if (leaf.commonName !== expected.commonName && !isNamedWithout(leaf, expected)) {
    const other = leaf.commonName ?? (hasCommonName(leaf) ? '(more than one)' : '(none)')
    return `the certificate is for CN ${other}`
  }
  if (leaf.x509.ca) return 'the certificate is a CA'
  if (expected.sans !== undefined && !sameNames(subjectAltNamesOf(leaf), expected.sans)) {
    return `the certificate has the names ${subjectAltNamesOf(leaf).join(', ') || '(none)'}`
  }
  return findChainFault(leaf, intermediates, expected)
}

function isNamedWithout(
  leaf: Certificate,
  { isCommonNameOptional = false, commonName }: IssuedCertificateExpectation,
): boolean {
  if (!isCommonNameOptional || hasCommonName(leaf)) return false
  return subjectAltNamesOf(leaf).some((name) => name.toLowerCase() === commonName)
}

function findChainFault(
  leaf: Certificate,
  intermediates: readonly Certificate[],
  { roots, now, clockSkewMsMax }: IssuedCertificateExpectation,
): string | undefined {
  let current = leaf
  for (const issuer of [...intermediates, undefined]) {
    if (current.notAfter <= now) return `the certificate of ${current.x509.subject} is expired`
    if (current.notBefore.getTime() > now.getTime() + clockSkewMsMax) {
      return `the certificate of ${current.x509.subject} is not valid yet`
    }
    if (roots.some((root) => root.notAfter > now && isIssuedBy(current, root))) return undefined
    if (issuer === undefined) break
    if (!isIssuedBy(current, issuer))
      return `the certificate of ${current.x509.subject} is not signed by the next one`
    current = issuer
  }
  return 'the chain does not lead to a trusted root'
}

/** The first of the roots that the chain leads to, whatever time it is. */
export function findRootOf(
  chain: readonly Certificate[],
  roots: readonly Certificate[],
): Certificate | undefined {
  for (const [at, certificate] of chain.entries()) {
    const root = roots.find((candidate) => isIssuedBy(certificate, candidate))
    if (root !== undefined) return root
    const issuer = chain[at + 1]
    if (issuer === undefined || !isIssuedBy(certificate, issuer)) return undefined
  }
  return undefined
}

/** Signatures that were found right: a CA's own chain is the same behind every certificate that it issues. */
const verified = new WeakMap<Certificate, WeakSet<Certificate>>()

function isIssuedBy(certificate: Certificate, issuer: Certificate): boolean {
  if (verified.get(issuer)?.has(certificate) === true) return true
  const isIssued =
    issuer.x509.ca &&
    certificate.x509.checkIssued(issuer.x509) &&
    certificate.x509.verify(issuer.x509.publicKey)
  if (isIssued) {
    const issued = verified.get(issuer) ?? new WeakSet()
    verified.set(issuer, issued.add(certificate))
  }
  return isIssued
}

function sameNames(actual: readonly string[], expected: readonly string[]): boolean {
  return normaliseNames(actual) === normaliseNames(expected)
}

/** No name has a line break in it, as certificates are read; a blank some have. */
function normaliseNames(names: readonly string[]): string {
  return [...new Set(names.map((name) => canonicalIpv6(name).toLowerCase()))].sort().join('\n')
}
