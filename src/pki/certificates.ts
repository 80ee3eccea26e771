// Certificates (RFC 5280) as Node's OpenSSL reads them.

import { hash, X509Certificate } from 'node:crypto'
import { isIP } from 'node:net'
import { readCertificateNames, readPublicKeySpki } from './certificate-fields.ts'

export interface Certificate {
  readonly pem: string
  readonly x509: X509Certificate
  /** The one CN of the subject; undefined when there is none or more than one. */
  readonly commonName: string | undefined
  /** Lower-case hex without separators. */
  readonly serial: string
  /** SHA-256 of the DER, lower-case hex. */
  readonly sha256: string
  readonly notBefore: Date
  readonly notAfter: Date
  /** SubjectPublicKeyInfo, DER. */
  readonly publicKeySpki: Buffer
}

const PEM_CERTIFICATE = /-----BEGIN CERTIFICATE-----[A-Za-z0-9+/=\s]+-----END CERTIFICATE-----/g

/** All certificates of a PEM text in their order; throws on one that does not parse. */
export function parseCertificatesPem(text: string): Certificate[] {
  return (text.match(PEM_CERTIFICATE) ?? []).map((pem) => fromX509(new X509Certificate(pem)))
}

/** The first certificate of a PEM text; throws when there is no certificate. */
export function parseCertificatePem(text: string): Certificate {
  const [first] = parseCertificatesPem(text)
  if (first === undefined) throw new Error('no PEM certificate found')
  return first
}

export function fromX509(x509: X509Certificate): Certificate {
  return new ReadCertificate(x509)
}

/** Each value is worked out when it is asked for, and once: two of them cost more than all that a request needs. */
class ReadCertificate implements Certificate {
  readonly x509: X509Certificate
  #pem: string | undefined
  #commonName: { readonly value: string | undefined } | undefined
  #serial: string | undefined
  #sha256: string | undefined
  #notBefore: Date | undefined
  #notAfter: Date | undefined
  #publicKeySpki: Buffer | undefined

  constructor(x509: X509Certificate) {
    this.x509 = x509
  }

  get pem(): string {
    return (this.#pem ??= this.x509.toString())
  }
  get commonName(): string | undefined {
    return (this.#commonName ??= { value: commonNameOf(this.x509) }).value
  }
  get serial(): string {
    return (this.#serial ??= this.x509.serialNumber.toLowerCase())
  }
  get sha256(): string {
    return (this.#sha256 ??= hash('sha256', this.x509.raw, 'hex'))
  }
  get notBefore(): Date {
    return (this.#notBefore ??= this.x509.validFromDate)
  }
  get notAfter(): Date {
    return (this.#notAfter ??= this.x509.validToDate)
  }
  get publicKeySpki(): Buffer {
    return (this.#publicKeySpki ??= spkiOf(this.x509))
  }
}

/** As it stands in the certificate. To have OpenSSL write it down again costs more than to verify a signature. */
function spkiOf(x509: X509Certificate): Buffer {
  const spki = readPublicKeySpki(x509.raw)
  return spki === undefined
    ? x509.publicKey.export({ type: 'spki', format: 'der' })
    : Buffer.from(spki)
}

/** A subject of one CN and nothing that its text would escape; any other is taken apart properly, at fifteen times the cost. */
const PLAIN_SUBJECT = /^CN=([A-Za-z0-9._-]+)$/

function commonNameOf(x509: X509Certificate): string | undefined {
  const plain = PLAIN_SUBJECT.exec(x509.subject)?.[1]
  if (plain !== undefined) return plain
  // Node 24 crashes, without an exception, when it takes a certificate apart whose key OpenSSL cannot read.
  if (!isKeyReadable(x509)) return undefined
  return oneCommonName(x509.toLegacyObject().subject)
}

/** Of a subject as Node's objects have it: one of several names is nobody's. */
export function oneCommonName(subject: object): string | undefined {
  const { CN } = subject as { readonly CN?: string | string[] }
  return typeof CN === 'string' ? CN : undefined
}

/** 2.5.4.3 (RFC 5280, appendix A.1). */
const COMMON_NAME = Buffer.from([0x55, 0x04, 0x03])

/** Whether there is any CN, be it one of several. The three bytes in another attribute's value count as one too: that is the safe side. */
export function hasCommonName({ x509 }: Certificate): boolean {
  const subject = readCertificateNames(x509.raw)?.subject
  return subject === undefined || Buffer.from(subject).includes(COMMON_NAME)
}

/** Of a fingerprint as OpenSSL prints it. */
export function plainHex(fingerprint: string): string {
  return fingerprint.replaceAll(':', '').toLowerCase()
}

function isKeyReadable(x509: X509Certificate): boolean {
  try {
    return x509.publicKey.type === 'public'
  } catch {
    return false
  }
}

/**
 * Names of the subjectAltName extension, in its order. Only one whose kind its text tells is text alone: a DNS name that is
 * no address, an address that is an address. Any other keeps its kind, as in `email:web-1`, and is no name of a host.
 */
export function subjectAltNamesOf(certificate: Certificate): string[] {
  const text = certificate.x509.subjectAltName ?? ''
  // Node escapes commas within a name.
  return text === '' ? [] : text.split(', ').map(plainName)
}

function plainName(name: string): string {
  const at = name.indexOf(':')
  const value = name.slice(at + 1)
  return name.slice(0, at) === (isIP(value) === 0 ? 'DNS' : 'IP Address') ? value : name
}
