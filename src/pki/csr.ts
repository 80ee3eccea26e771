// Certificate signing requests (PKCS#10, RFC 2986).

import 'reflect-metadata'
import { constants, hash, createPublicKey, type KeyObject, verify, webcrypto } from 'node:crypto'
import {
  type Name,
  Pkcs10CertificateRequest,
  Pkcs10CertificateRequestGenerator,
  SubjectAlternativeNameExtension,
} from '@peculiar/x509'
import { isAcceptablePublicKey, type PrivateKey } from './keys.ts'
import { decodePem } from './pem.ts'

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

const SIGNATURE_HASHES: ReadonlySet<string> = new Set(['SHA-256', 'SHA-384', 'SHA-512'])
const EXTENSION_REQUEST = '1.2.840.113549.1.9.14'
const SUBJECT_ALT_NAME = '2.5.29.17'

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

/** As parseCsrPem. */
export function parseCsr(der: Buffer): CertificateRequest | undefined {
  try {
    const csr = new Pkcs10CertificateRequest(der)
    const publicKeySpki = Buffer.from(csr.publicKey.rawData)
    const publicKey = createPublicKey({ key: publicKeySpki, type: 'spki', format: 'der' })
    if (!isAcceptablePublicKey(publicKey) || !isSelfSigned(csr, publicKey)) return undefined
    return {
      der,
      sha256: hash('sha256', der, 'hex'),
      commonName: singleCommonName(csr.subjectName),
      sans: subjectAltNames(csr),
      publicKeySpki,
    }
  } catch {
    // Whatever the parser dislikes about hostile bytes, the answer is the same.
    return undefined
  }
}

/** Proof that whoever asks has the key. WebCrypto would do it too, at twice the price. */
function isSelfSigned(csr: Pkcs10CertificateRequest, publicKey: KeyObject): boolean {
  // What the library calls a HashedAlgorithm has more fields for RSA-PSS, and no hash for Ed25519.
  const algorithm = csr.signatureAlgorithm as Algorithm & { hash?: Algorithm; saltLength?: number }
  const signatureHash = algorithm.hash?.name
  if (signatureHash !== undefined && !SIGNATURE_HASHES.has(signatureHash)) return false
  const pss = {
    key: publicKey,
    padding: constants.RSA_PKCS1_PSS_PADDING,
    saltLength: algorithm.saltLength ?? constants.RSA_PSS_SALTLEN_DIGEST,
  }
  const key = algorithm.name === 'RSA-PSS' ? pss : publicKey
  // The signed bytes are there, though the library's types keep them private.
  const { tbs } = csr as unknown as { tbs: Uint8Array }
  return verify(signatureHash?.replace('-', '') ?? null, tbs, key, Buffer.from(csr.signature))
}

interface Algorithm {
  readonly name: string
}

function singleCommonName(name: Name): string | undefined {
  const names = name.getField('CN')
  return names.length === 1 ? names[0] : undefined
}

function subjectAltNames(csr: Pkcs10CertificateRequest): readonly string[] | undefined {
  const [request, ...others] = csr.getAttributes(EXTENSION_REQUEST)
  // One attribute of one value (RFC 2985, 5.4.2): of more a CA could read another than we do.
  if (others.length > 0 || (request?.values.length ?? 0) > 1) return undefined
  const [extension, ...more] = csr.getExtensions(SUBJECT_ALT_NAME)
  if (extension === undefined) return []
  if (!(extension instanceof SubjectAlternativeNameExtension) || more.length > 0) return undefined
  const { items } = extension.names
  // The library leaves out the names whose kind it does not know; all of them are here, though its types keep them private.
  const { asn } = extension.names as unknown as { asn: ArrayLike<unknown> }
  return items.length === asn.length && items.every(({ type }) => type === 'dns' || type === 'ip')
    ? items.map(({ value }) => value)
    : undefined
}
