// Whether the certificate that a host shows is one of a CA that is trusted for that, and good for proving who the host is: RFC 5280, 6,
// without policies. OpenSSL verifies the signatures, from the trusted CA down, so no key is used that nobody vouched for. What cannot be
// understood is refused. docs/protocol.md JNR-26.

import {
  ExtensionId,
  type Extensions,
  type GeneralName,
  hasKeyUsage,
  KeyUsageBit,
  type NameConstraints,
  NameKind,
  pathLengthOf,
  purposesOf,
  readExtensions,
  readNameConstraints,
  readNames,
  signatureAlgorithmOf,
} from './certificate-extensions.ts'
import type { Certificate } from './certificates.ts'
import { findChainFault } from './chain-bounds.ts'
import { breaksConstraints, textOf } from './name-constraints.ts'
import { certifiedKeyTypeOf } from './public-key-bounds.ts'

/** With the host's own. */
export const HOST_CHAIN_MAX = 4

export type HostChainVerdict =
  | { readonly ok: true; readonly authority: Certificate; readonly dnsNames: readonly string[] }
  | { readonly ok: false; readonly fault: string }

export interface HostChainFacts {
  readonly now: Date
  readonly isIssuedBy: IssuerCheck
}

/**
 * The host's own certificate first, each signed by the next one; the trusted one may be missing, as may what is above it. Of a chain
 * without a fault of chain-bounds.ts.
 */
export function verifyHostChain(
  chain: readonly Certificate[],
  authorities: readonly Certificate[],
  { now, isIssuedBy }: HostChainFacts,
): HostChainVerdict {
  const [leaf] = chain
  if (leaf === undefined || chain.length > HOST_CHAIN_MAX) {
    return refuse(`not a chain of 1 to ${HOST_CHAIN_MAX} certificates`)
  }
  const names = namesOf(leaf)
  if (names === undefined) return refuse('names that cannot be read')
  let fault = 'no chain to a CA of the rule'
  for (const path of findPaths(chain, authorities, isIssuedBy)) {
    const ofPath = findPathFault(path, names, now)
    if (ofPath === undefined) {
      const dnsNames = names.filter(({ kind }) => kind === NameKind.dns)
      const texts = dnsNames.map(({ content }) => textOf(content))
      return { ok: true, authority: path[0], dnsNames: texts }
    }
    fault = ofPath
  }
  return refuse(fault)
}

/** Why a certificate is no CA that a host's certificate can lead to; undefined when it is one. */
export function findAuthorityFault(certificate: Certificate): string | undefined {
  const costly = findChainFault([certificate.x509.raw])
  if (costly !== undefined) return costly
  const extensions = readExtensions(certificate.x509.raw)
  if (extensions === undefined) return 'extensions that cannot be read'
  return findUnknown(extensions) ?? findIssuerFault(extensions, 0)
}

function refuse(fault: string): HostChainVerdict {
  return { ok: false, fault }
}

type Path = readonly [authority: Certificate, ...issued: Certificate[]]

/** Each from a trusted CA down to the host's certificate: a CA has several certificates with one key, and some of them are over. */
function* findPaths(
  chain: readonly Certificate[],
  authorities: readonly Certificate[],
  isIssuedBy: IssuerCheck,
): Generator<Path> {
  for (const [at, certificate] of chain.entries()) {
    for (const authority of authorities.filter((each) => isIssuedBy(certificate, each))) {
      const issued = chain.slice(0, at + 1).toReversed()
      const isUnbroken = issued.every(
        (each, place) => place === 0 || isIssuedBy(each, issued[place - 1]),
      )
      if (isUnbroken) yield [authority, ...issued]
    }
    const next = chain[at + 1]
    if (next === undefined || !certificate.x509.checkIssued(next.x509)) return
  }
}

export type IssuerCheck = (certificate: Certificate, issuer: Certificate | undefined) => boolean

/** For one request: the rules of a PKI have its CA alike, and what was verified once is known. */
export function createIssuerCheck(): IssuerCheck {
  const verdicts = new Map<string, boolean>()
  return (certificate, issuer) => {
    if (issuer === undefined || !certificate.x509.checkIssued(issuer.x509)) return false
    const both = `${certificate.sha256} ${issuer.sha256}`
    const verdict = verdicts.get(both) ?? certificate.x509.verify(issuer.x509.publicKey)
    verdicts.set(both, verdict)
    return verdict
  }
}

/** The names of the host's certificate that constraints are about; its subject is one if it has any. */
function namesOf({ x509 }: Certificate): GeneralName[] | undefined {
  const extension = readExtensions(x509.raw)?.get(ExtensionId.subjectAltName)
  const names = extension === undefined ? [] : readNames(extension)
  const subject = { kind: NameKind.directory, content: Buffer.alloc(0) }
  return x509.subject ? names && [...names, subject] : names
}

function findPathFault(path: Path, names: readonly GeneralName[], now: Date): string | undefined {
  const leafAt = path.length - 1
  for (const [at, certificate] of path.entries()) {
    if (certificate.notBefore > now) return 'a certificate that is not valid yet'
    if (certificate.notAfter <= now) return 'a certificate that is expired'
    const algorithm = signatureAlgorithmOf(certificate.x509.raw) ?? ''
    // A root's own signature says nothing.
    if (at > 0 && !SIGNATURES.has(algorithm)) return 'a signature by an algorithm that is not taken'
    const extensions = readExtensions(certificate.x509.raw)
    if (extensions === undefined) return 'extensions that cannot be read'
    const isLeaf = at === leafAt
    const fault =
      findUnknown(extensions) ??
      findPurposeFault(extensions) ??
      (isLeaf
        ? findHostFault(certificate, extensions)
        : findIssuerFault(extensions, leafAt - at - 1))
    if (fault !== undefined) return fault
    const constraints = isLeaf ? NO_CONSTRAINTS : constraintsOf(extensions)
    if (constraints === undefined) return 'name constraints that cannot be read'
    if (breaksConstraints(names, constraints)) return 'a name that its CA may not give'
  }
  return undefined
}

/** RSA (PKCS #1) and ECDSA with SHA-2, and Ed25519. */
const SIGNATURES: ReadonlySet<string> = new Set([
  '2a864886f70d01010b',
  '2a864886f70d01010c',
  '2a864886f70d01010d',
  '2a8648ce3d040302',
  '2a8648ce3d040303',
  '2a8648ce3d040304',
  '2b6570',
])

/** What a certificate makes a condition, and nobody here knows, is not met. */
function findUnknown(extensions: Extensions): string | undefined {
  const isUnknown = [...extensions].some(
    ([identifier, { isCritical }]) => isCritical && !UNDERSTOOD.has(identifier),
  )
  return isUnknown ? 'a critical extension that is not known' : undefined
}

const UNDERSTOOD: ReadonlySet<string> = new Set(Object.values(ExtensionId))
const CLIENT_OR_SERVER: ReadonlySet<string> = new Set([
  '2b06010505070301', // serverAuth
  '2b06010505070302', // clientAuth
  '551d2500', // anyExtendedKeyUsage
])

/** Where it says what its key is for, at each step. */
function findPurposeFault(extensions: Extensions): string | undefined {
  const extension = extensions.get(ExtensionId.extendedKeyUsage)
  if (extension === undefined) return undefined
  const isFor = purposesOf(extension).some((purpose) => CLIENT_OR_SERVER.has(purpose))
  return isFor ? undefined : 'a certificate that is for neither a client nor a server'
}

function findHostFault({ x509, publicKeySpki }: Certificate, extensions: Extensions) {
  const basic = extensions.get(ExtensionId.basicConstraints)
  if (x509.ca || (basic !== undefined && pathLengthOf(basic) !== undefined)) {
    return 'the certificate of a CA in place of a host’s'
  }
  const usage = extensions.get(ExtensionId.keyUsage)
  if (usage !== undefined && !hasKeyUsage(usage, KeyUsageBit.digitalSignature)) {
    return 'a key that is not for signatures'
  }
  return certifiedKeyTypeOf(publicKeySpki) === undefined
    ? 'a key that is not P-256, P-384, Ed25519 or RSA of 2048 to 4096 bits'
    : undefined
}

/** `below`: how many CA certificates stand between this one and the host's. */
function findIssuerFault(extensions: Extensions, below: number): string | undefined {
  const basic = extensions.get(ExtensionId.basicConstraints)
  const pathLength = basic && pathLengthOf(basic)
  if (pathLength === undefined) return 'an issuer that is no CA'
  const usage = extensions.get(ExtensionId.keyUsage)
  if (usage !== undefined && !hasKeyUsage(usage, KeyUsageBit.keyCertSign)) {
    return 'an issuer whose key is not for certificates'
  }
  return below > pathLength ? 'more CAs than one of them allows' : undefined
}

const NO_CONSTRAINTS: NameConstraints = { permitted: [], excluded: [] }

function constraintsOf(extensions: Extensions): NameConstraints | undefined {
  const extension = extensions.get(ExtensionId.nameConstraints)
  return extension === undefined ? NO_CONSTRAINTS : readNameConstraints(extension)
}
