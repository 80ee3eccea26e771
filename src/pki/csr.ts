// Certificate signing requests (PKCS#10, RFC 2986).

import 'reflect-metadata'
import { hash, type KeyObject, webcrypto } from 'node:crypto'
import { Pkcs10CertificateRequestGenerator } from '@peculiar/x509'
import { readCommonName, readSubjectAltNames } from './csr-names.ts'
import { isSignedBy, type SignedParts } from './csr-signature.ts'
import { type DerElement, DerTag, readDerAll, readDerSequence } from './der.ts'
import type { PrivateKey } from './keys.ts'
import { decodePem } from './pem.ts'
import { certifiedKeyTypeOf, findPublicKeyFault } from './public-key-bounds.ts'

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

/** A CSR whose only name is its CN; `key` is one that we certify. PEM. */
export async function createCsrPem(commonName: string, key: PrivateKey): Promise<string> {
  const algorithm = signingAlgorithmOf(key.keyObject)
  const pkcs8 = key.keyObject.export({ type: 'pkcs8', format: 'der' })
  const { subtle } = webcrypto
  const signingKey = await subtle.importKey('pkcs8', pkcs8, algorithm, true, ['sign'])
  const verifyingKey = await subtle.importKey('spki', key.publicKeySpki, algorithm, true, [
    'verify',
  ])
  const csr = await Pkcs10CertificateRequestGenerator.create({
    name: [{ CN: [commonName] }],
    keys: { privateKey: signingKey, publicKey: verifyingKey },
    signingAlgorithm: algorithm,
  })
  return `${csr.toString('pem')}\n`
}

function signingAlgorithmOf(key: KeyObject) {
  switch (key.asymmetricKeyType) {
    case 'ed25519':
      return { name: 'Ed25519' }
    case 'rsa':
      return { name: 'RSASSA-PKCS1-v1_5', hash: 'SHA-256' }
    default: {
      const isP384 = key.asymmetricKeyDetails?.namedCurve === 'secp384r1'
      return isP384
        ? { name: 'ECDSA', namedCurve: 'P-384', hash: 'SHA-384' }
        : { name: 'ECDSA', namedCurve: 'P-256', hash: 'SHA-256' }
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
