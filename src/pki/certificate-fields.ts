// What of a certificate says how much it costs to verify a chain with it: RFC 5280 4.1, read without parsing the rest.

import { type DerElement, DerTag, readDer, readDerSequence } from './der.ts'

export interface CertificateFields {
  /** SubjectPublicKeyInfo, DER. */
  readonly spki: Uint8Array
  /** Of the subject and the subjectAltName extension. */
  readonly nameBytes: number
  /** Of the nameConstraints extension, each of which is compared with each name. */
  readonly constraintBytes: number
  /** The extensions that it has, as hex of their object identifiers. */
  readonly extensions: ReadonlySet<string>
}

const { explicit0, integer, objectIdentifier, sequence } = DerTag
/** serialNumber, signature, issuer, validity, subject, subjectPublicKeyInfo. */
const UP_TO_THE_KEY = [integer, sequence, sequence, sequence, sequence, sequence] as const
const EXPLICIT_3 = 0xa3
const SUBJECT_ALT_NAME = '551d11'
const NAME_CONSTRAINTS = '551d1e'

/** Undefined for what is no DER, or no certificate. */
export function readCertificateFields(certificate: Uint8Array): CertificateFields | undefined {
  const found = locateKey(certificate)
  if (found === undefined) return undefined
  const { tbs, subject, key } = found
  const extensions = readExtensions(certificate, { start: key.end, end: tbs.end })
  if (extensions === undefined) return undefined
  return {
    spki: certificate.subarray(subject.end, key.end),
    nameBytes: subject.end - subject.start + (extensions.get(SUBJECT_ALT_NAME) ?? 0),
    constraintBytes: extensions.get(NAME_CONSTRAINTS) ?? 0,
    extensions: new Set(extensions.keys()),
  }
}

/** The names of the issuer and of the subject, DER; undefined for what is no DER, or no certificate. */
export function readCertificateNames(
  certificate: Uint8Array,
): Readonly<Record<'issuer' | 'subject', Uint8Array>> | undefined {
  const found = locateKey(certificate)
  return (
    found && {
      issuer: certificate.subarray(found.issuer.start, found.issuer.end),
      subject: certificate.subarray(found.subject.start, found.subject.end),
    }
  )
}

/** SubjectPublicKeyInfo, DER. Undefined for what is no DER, or no certificate. */
export function readPublicKeySpki(certificate: Uint8Array): Uint8Array | undefined {
  const found = locateKey(certificate)
  return found && certificate.subarray(found.subject.end, found.key.end)
}

function locateKey(
  certificate: Uint8Array,
): Readonly<Record<'tbs' | 'issuer' | 'subject' | 'key', DerElement>> | undefined {
  const whole = readDer(certificate, 0, certificate.length)
  if (whole?.tag !== sequence || whole.end !== certificate.length) return undefined
  const tbs = readDer(certificate, whole.start, whole.end)
  if (tbs?.tag !== sequence) return undefined
  const first = readDer(certificate, tbs.start, tbs.end)
  const start = first?.tag === explicit0 ? first.end : tbs.start
  const fields = readDerSequence(certificate, { start, end: tbs.end }, UP_TO_THE_KEY)
  const [, , issuer, , subject, key] = fields ?? []
  return issuer === undefined || subject === undefined || key === undefined
    ? undefined
    : { tbs, issuer, subject, key }
}

type Range = Pick<DerElement, 'start' | 'end'>

/** How many bytes each has, by the hex of its object identifier. */
function readExtensions(bytes: Uint8Array, after: Range): Map<string, number> | undefined {
  const found = new Map<string, number>()
  for (const extension of listExtensions(bytes, after)) {
    const name = extension && readDerSequence(bytes, extension, [objectIdentifier])?.[0]
    if (extension === undefined || name === undefined) return undefined
    const identifier = Buffer.from(bytes.subarray(name.start, name.end)).toString('hex')
    found.set(identifier, (found.get(identifier) ?? 0) + extension.end - name.end)
  }
  return found
}

/** Undefined for what is no certificate; one of them is undefined where they are no DER. */
export function locateExtensions(
  certificate: Uint8Array,
): Iterable<DerElement | undefined> | undefined {
  const found = locateKey(certificate)
  return found && listExtensions(certificate, { start: found.key.end, end: found.tbs.end })
}

/** What else follows the key is passed over. */
function* listExtensions(bytes: Uint8Array, after: Range): Generator<DerElement | undefined> {
  for (const element of elementsIn(bytes, after)) {
    if (element !== undefined && element.tag !== EXPLICIT_3) continue
    const list = element && readDer(bytes, element.start, element.end)
    if (list?.tag === sequence && list.end === element?.end) yield* elementsIn(bytes, list)
    else yield undefined
  }
}

/** The last one is undefined where they do not fill the range. */
function* elementsIn(bytes: Uint8Array, { start, end }: Range): Generator<DerElement | undefined> {
  for (let at = start; at < end;) {
    const element = readDer(bytes, at, end)
    yield element
    if (element === undefined) return
    at = element.end
  }
}
