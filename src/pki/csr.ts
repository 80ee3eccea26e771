// Certificate signing requests (PKCS#10, RFC 2986).

import { hash, type KeyObject, sign } from 'node:crypto'
import { promisify } from 'node:util'
import { invariant } from '../platform/errors.ts'
import { readCommonName, readSubjectAltNames } from './csr-names.ts'
import { isSignedBy, type SignedParts } from './csr-signature.ts'
import { type DerElement, DerTag, readDerAll, readDerSequence } from './der.ts'
import { generateEcP256Key, type PrivateKey } from './keys.ts'
import { decodePem, encodePem } from './pem.ts'
import { certifiedKeyTypeOf, findPublicKeyFault } from './public-key-bounds.ts'
import { writeBitString, writeDer, writeSequence } from './write-der.ts'

export interface CertificateRequest {
  readonly der: Buffer
  /** SHA-256 of the DER, hex. */
  readonly sha256: string
  /** The one CN of the subject; undefined when there is none or more than one. */
  readonly commonName: string | undefined
  /** DNS names and IP addresses of the subjectAltName extension; any other kind, or more than one list, makes it `undefined`. */
  readonly sans: readonly string[] | undefined
  readonly publicKeySpki: Buffer
}

interface SigningAlgorithm {
  readonly hash: string | null
  /** AlgorithmIdentifier, DER: RFC 5758, RFC 8017, RFC 8410. */
  readonly identifier: Buffer
}

const SHA256_WITH_ECDSA = signingAlgorithm('SHA256', '06082a8648ce3d040302')
const SHA384_WITH_ECDSA = signingAlgorithm('SHA384', '06082a8648ce3d040303')
const SHA256_WITH_RSA = signingAlgorithm('SHA256', '06092a864886f70d01010b0500')
const ED25519 = signingAlgorithm(null, '06032b6570')

const VERSION_1 = Buffer.from('020100', 'hex')
const COMMON_NAME = Buffer.from('0603550403', 'hex')
const EXTENSION_REQUEST = Buffer.from('06092a864886f70d01090e', 'hex')
const SUBJECT_ALT_NAME = Buffer.from('0603551d11', 'hex')
/** A GeneralName of the kind dNSName. */
const DNS_NAME = 0x82

const signInThread = promisify(sign)

/**
 * A CSR whose only name is its CN, unless DNS names are given; `key` is one that we certify. PEM. Written by hand: the library that writes everything
 * holds 20 MB of each agent for these few bytes.
 */
export async function createCsrPem(
  commonName: string,
  key: PrivateKey,
  dnsNames: readonly string[] = [],
): Promise<string> {
  const { hash: digest, identifier } = signingAlgorithmOf(key.keyObject)
  const name = writeSequence(COMMON_NAME, writeDer(DerTag.utf8String, Buffer.from(commonName)))
  const subject = writeSequence(writeDer(DerTag.set, name))
  const attributes = writeDer(
    DerTag.explicit0,
    ...(dnsNames.length === 0 ? [] : [nameRequest(dnsNames)]),
  )
  const info = writeSequence(VERSION_1, subject, key.publicKeySpki, attributes)
  const signature = await signInThread(digest, info, key.keyObject)
  const request = writeSequence(info, identifier, writeBitString(signature))
  return encodePem(request, 'CERTIFICATE REQUEST')
}

/** The attribute extensionRequest (RFC 2985) with a subjectAltName (RFC 5280). */
function nameRequest(dnsNames: readonly string[]): Buffer {
  const names = dnsNames.map((each) => writeDer(DNS_NAME, Buffer.from(each, 'latin1')))
  const list = writeDer(DerTag.octetString, writeSequence(...names))
  const extensions = writeSequence(writeSequence(SUBJECT_ALT_NAME, list))
  return writeSequence(EXTENSION_REQUEST, writeDer(DerTag.set, extensions))
}

/** By a key that nobody keeps, to see what a CA says to it. */
export async function createThrowawayCsr(commonName: string): Promise<CertificateRequest> {
  const csr = parseCsrPem(await createCsrPem(commonName, await generateEcP256Key()))
  invariant(csr, 'our own CSR parses')
  return csr
}

function signingAlgorithm(digest: string | null, content: string): SigningAlgorithm {
  return { hash: digest, identifier: writeSequence(Buffer.from(content, 'hex')) }
}

function signingAlgorithmOf(key: KeyObject): SigningAlgorithm {
  switch (key.asymmetricKeyType) {
    case 'ed25519':
      return ED25519
    case 'rsa':
      return SHA256_WITH_RSA
    default: {
      const isP384 = key.asymmetricKeyDetails?.namedCurve === 'secp384r1'
      return isP384 ? SHA384_WITH_ECDSA : SHA256_WITH_ECDSA
    }
  }
}

/** The request, or undefined when it does not parse, is not self-signed, or has a key that we do not certify. */
export function parseCsrPem(pem: string): CertificateRequest | undefined {
  const der = decodePem(pem, 'certificateRequest')
  return der && parseCsr(der)
}

/**
 * As parseCsrPem. Read by hand, since OpenSSL's binding reads none and a library took 265 ms for one of 16 KiB: the most that
 * is done for any is a look at each of its bytes and one verified signature of a bounded key. docs/protocol.md LIM-36.
 */
export function parseCsr(der: Buffer): CertificateRequest | undefined {
  const parts = splitCsr(der)
  if (parts === undefined || findPublicKeyFault(parts.publicKeySpki) !== undefined) return undefined
  const { publicKeySpki, subject, attributes } = parts
  if (!isSelfSigned(der, parts)) return undefined
  return {
    der,
    sha256: hash('sha256', der, 'hex'),
    commonName: readCommonName(der, subject),
    sans: readSubjectAltNames(der, attributes),
    publicKeySpki,
  }
}

interface CsrParts extends SignedParts {
  readonly subject: DerElement
  /** SubjectPublicKeyInfo, DER. */
  readonly publicKeySpki: Buffer
  readonly attributes: DerElement | undefined
}

const { bitString, explicit0, integer, sequence } = DerTag

/** CertificationRequest and CertificationRequestInfo: RFC 2986, 4. */
function splitCsr(der: Buffer): CsrParts | undefined {
  const [whole, ...more] = readDerAll(der, { start: 0, end: der.length }) ?? []
  if (whole?.tag !== sequence || more.length > 0) return undefined
  const [info, algorithm, signature] =
    readDerSequence(der, whole, [sequence, sequence, bitString]) ?? []
  if (info === undefined || algorithm === undefined || signature?.end !== whole.end)
    return undefined
  const [version, subject, key] = readDerSequence(der, info, [integer, sequence, sequence]) ?? []
  if (version === undefined || subject === undefined || key === undefined) return undefined
  const [attributes, ...others] = readDerAll(der, { start: key.end, end: info.end }) ?? []
  // RFC 2986 wants attributes, if only none of them; there are programs that leave them out.
  const hasRest = attributes === undefined ? key.end === info.end : attributes.tag === explicit0
  if (!hasRest || others.length > 0) return undefined
  return {
    signed: der.subarray(whole.start, info.end),
    algorithm,
    signature,
    subject,
    publicKeySpki: Buffer.from(der.subarray(subject.end, key.end)),
    attributes,
  }
}

function isSelfSigned(der: Buffer, parts: CsrParts): boolean {
  const { publicKeySpki: spki } = parts
  const type = certifiedKeyTypeOf(spki)
  if (type === undefined) return false
  try {
    return isSignedBy({ type, spki }, der, parts)
  } catch {
    // Whatever OpenSSL dislikes about hostile bytes, the answer is the same.
    return false
  }
}
