// The names in a certificate request (RFC 2986), read from its DER. Where it is not clear to everybody which names it asks
// for, it has none that can be read: a CA could read others than we do.

import { canonicalIpv6 } from '../platform/canonical-ipv6.ts'
import { contentOf, type DerElement, DerTag, readDer, readDerAll } from './der.ts'

const { objectIdentifier, octetString, sequence, set } = DerTag
const COMMON_NAME = '550403'
const EXTENSION_REQUEST = '2a864886f70d01090e' // RFC 2985, 5.4.2
const SUBJECT_ALT_NAME = '551d11'

const DNS_NAME = 0x82
const IP_ADDRESS = 0x87

/** The one CN of a subject; undefined when there is none, more than one, or one that is no text. */
export function readCommonName(der: Uint8Array, subject: DerElement): string | undefined {
  const values: (string | undefined)[] = []
  for (const relative of readDerAll(der, subject) ?? []) {
    if (relative.tag !== set) return undefined
    for (const part of readDerAll(der, relative) ?? []) {
      const [type, value] = readDerAll(der, part) ?? []
      if (type !== undefined && value !== undefined && isNamed(der, type, COMMON_NAME)) {
        values.push(readText(der, value))
      }
    }
  }
  return values.length === 1 ? values[0] : undefined
}

/** `tag` in hex: UTF8String, PrintableString, IA5String, TeletexString, BMPString (RFC 5280, 4.1.2.4). */
const DECODERS: ReadonlyMap<number, (content: Buffer) => string> = new Map([
  [0x0c, (content) => new TextDecoder('utf-8', { fatal: true }).decode(content)],
  [0x13, (content) => content.toString('latin1')],
  [0x16, (content) => content.toString('latin1')],
  [0x14, (content) => content.toString('latin1')],
  [0x1e, (content) => new TextDecoder('utf-16be', { fatal: true }).decode(content)],
])

function readText(der: Uint8Array, value: DerElement): string | undefined {
  try {
    return DECODERS.get(value.tag)?.(contentOf(der, value))
  } catch {
    // Bytes that are not of the encoding that they claim.
    return undefined
  }
}

/**
 * DNS names and IP addresses of the subjectAltName extension; none where there is no such extension. Any other kind, more
 * than one list, and what cannot be read make it undefined.
 */
export function readSubjectAltNames(
  der: Uint8Array,
  attributes: DerElement | undefined,
): readonly string[] | undefined {
  const requests = findValues(der, attributes, EXTENSION_REQUEST)
  if (requests?.length !== 1) return requests?.length === 0 ? [] : undefined
  const values = readDerAll(der, requests[0] as DerElement)
  // One attribute of one value.
  if (values?.length !== 1) return undefined
  const lists = findValues(der, values[0], SUBJECT_ALT_NAME)
  if (lists?.length !== 1) return lists?.length === 0 ? [] : undefined
  const [list] = lists as [DerElement]
  const names = list.tag === octetString ? readDer(der, list.start, list.end) : undefined
  if (names?.tag !== sequence || names.end !== list.end) return undefined
  const texts = readDerAll(der, names)?.map((name) => readName(der, name))
  return texts?.every((text) => text !== undefined) ? texts : undefined
}

/** Of attributes, and of extensions: the last part of each that is called `name`. */
function findValues(
  der: Uint8Array,
  whole: DerElement | undefined,
  name: string,
): DerElement[] | undefined {
  const found: DerElement[] = []
  for (const each of whole === undefined ? [] : (readDerAll(der, whole) ?? [undefined])) {
    const parts = each?.tag === sequence ? readDerAll(der, each) : undefined
    const [type, value] = [parts?.[0], parts?.at(-1)]
    if (type?.tag !== objectIdentifier || value === undefined || value === type) return undefined
    if (isNamed(der, type, name)) found.push(value)
  }
  return found
}

function readName(der: Uint8Array, name: DerElement): string | undefined {
  const content = contentOf(der, name)
  if (name.tag === DNS_NAME) return content.toString('latin1')
  if (name.tag !== IP_ADDRESS) return undefined
  if (content.length === 4) return content.join('.')
  if (content.length !== 16) return undefined
  return canonicalIpv6((content.toString('hex').match(/.{4}/g) ?? []).join(':'))
}

function isNamed(der: Uint8Array, type: DerElement, name: string): boolean {
  return type.tag === objectIdentifier && contentOf(der, type).toString('hex') === name
}
