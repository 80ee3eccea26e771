// The extensions of a certificate (RFC 5280, 4.2) that say what its key and names are good for, read from its DER: OpenSSL tells Node
// only some of them.

import { locateExtensions } from './certificate-fields.ts'
import { contentOf, type DerElement, DerTag, readDer, readDerAll, readDerSequence } from './der.ts'

export interface CertificateExtension {
  readonly isCritical: boolean
  /** What is in the OCTET STRING. */
  readonly value: Buffer
}

/** By the hex of its object identifier; undefined for what is no DER, or has one twice. */
export type Extensions = ReadonlyMap<string, CertificateExtension>

export const ExtensionId = {
  keyUsage: '551d0f',
  subjectAltName: '551d11',
  basicConstraints: '551d13',
  nameConstraints: '551d1e',
  certificatePolicies: '551d20',
  extendedKeyUsage: '551d25',
} as const

const BOOLEAN = 0x01

export function readExtensions(certificate: Uint8Array): Extensions | undefined {
  const found = new Map<string, CertificateExtension>()
  for (const extension of locateExtensions(certificate) ?? [undefined]) {
    const parts = extension && readDerAll(certificate, extension)
    const [name, second, third] = parts ?? []
    const value = second?.tag === BOOLEAN ? third : second
    if (name === undefined || value?.tag !== DerTag.octetString) return undefined
    const identifier = contentOf(certificate, name).toString('hex')
    if (found.has(identifier) || parts?.at(-1) !== value) return undefined
    const isCritical = second?.tag === BOOLEAN && certificate[second.start] !== 0
    found.set(identifier, { isCritical, value: Buffer.from(contentOf(certificate, value)) })
  }
  return found
}

const whole = (bytes: Uint8Array): DerElement | undefined => {
  const element = readDer(bytes, 0, bytes.length)
  return element?.end === bytes.length ? element : undefined
}

/** How many CA certificates may stand between this one and a host's; undefined for what is no CA. */
export function pathLengthOf({ value }: CertificateExtension): number | undefined {
  const list = whole(value)
  const parts = list?.tag === DerTag.sequence ? readDerAll(value, list) : undefined
  const [isCa, length] = parts ?? []
  if (isCa?.tag !== BOOLEAN || value[isCa.start] !== 0xff) return undefined
  if (length === undefined) return Number.POSITIVE_INFINITY
  return length.tag === DerTag.integer && length.end - length.start === 1
    ? value[length.start]
    : undefined
}

/** The bits of RFC 5280, 4.2.1.3. */
export const KeyUsageBit = { digitalSignature: 0x80, keyCertSign: 0x04 } as const

/** Of the first eight bits. */
export function hasKeyUsage({ value }: CertificateExtension, bit: number): boolean {
  const bits = whole(value)
  if (bits?.tag !== DerTag.bitString || bits.end - bits.start < 2) return false
  return ((value[bits.start + 1] ?? 0) & bit) !== 0
}

/** Object identifiers, as hex. */
export function purposesOf({ value }: CertificateExtension): string[] {
  const list = whole(value)
  const parts = list?.tag === DerTag.sequence ? readDerAll(value, list) : undefined
  return (parts ?? []).map((part) => contentOf(value, part).toString('hex'))
}

export interface GeneralName {
  /** The context tag of GeneralName: 2 is dNSName, 4 directoryName, 7 iPAddress. */
  readonly kind: number
  readonly content: Buffer
}

export const NameKind = { dns: 2, directory: 4, ip: 7 } as const

/** Undefined for what is no list of names. */
export function readNames({ value }: CertificateExtension): GeneralName[] | undefined {
  const list = whole(value)
  const parts = list?.tag === DerTag.sequence ? readDerAll(value, list) : undefined
  return parts?.map((part) => toName(value, part))
}

export interface NameConstraints {
  readonly permitted: readonly GeneralName[]
  readonly excluded: readonly GeneralName[]
}

/** Undefined for what is none, or has a minimum or maximum, which RFC 5280 forbids. */
export function readNameConstraints({ value }: CertificateExtension): NameConstraints | undefined {
  const list = whole(value)
  const lists = list?.tag === DerTag.sequence ? readDerAll(value, list) : undefined
  if (lists === undefined || lists.length === 0) return undefined
  const subtrees: Record<'permitted' | 'excluded', GeneralName[]> = { permitted: [], excluded: [] }
  for (const each of lists) {
    const kind = PERMITTED === each.tag ? 'permitted' : 'excluded'
    const trees =
      each.tag === PERMITTED || each.tag === EXCLUDED ? readDerAll(value, each) : undefined
    if (trees === undefined) return undefined
    for (const tree of trees) {
      const base = readDerAll(value, tree)
      if (tree.tag !== DerTag.sequence || base?.length !== 1 || base[0] === undefined)
        return undefined
      subtrees[kind].push(toName(value, base[0]))
    }
  }
  return subtrees
}

const PERMITTED = 0xa0
const EXCLUDED = 0xa1
const TAG_NUMBER = 0x1f

function toName(bytes: Uint8Array, element: DerElement): GeneralName {
  return { kind: element.tag & TAG_NUMBER, content: contentOf(bytes, element) }
}

/** The object identifier of the algorithm that signed the certificate, as hex. */
export function signatureAlgorithmOf(certificate: Uint8Array): string | undefined {
  const outer = whole(certificate)
  const parts = outer && readDerSequence(certificate, outer, [DerTag.sequence, DerTag.sequence])
  const name = parts?.[1] && readDerSequence(certificate, parts[1], [DerTag.objectIdentifier])?.[0]
  return name && contentOf(certificate, name).toString('hex')
}
