// As much of DER (X.690) as it takes to find one field in a structure, without a parser that reads the whole structure.

export interface DerElement {
  readonly tag: number
  /** Of the content, in the bytes that were read. */
  readonly start: number
  /** After the content. */
  readonly end: number
}

export const DerTag = {
  integer: 0x02,
  bitString: 0x03,
  octetString: 0x04,
  objectIdentifier: 0x06,
  utf8String: 0x0c,
  sequence: 0x30,
  set: 0x31,
  explicit0: 0xa0,
} as const

const LONG_TAG = 0x1f
const LENGTH_BYTES_MAX = 3

/**
 * The element that begins at `at`; undefined when it does not end before `limit`, or is BER that DER forbids: an indefinite
 * length, one with more bytes than it needs. Tags of several bytes are in nothing that we look into.
 */
export function readDer(bytes: Uint8Array, at: number, limit: number): DerElement | undefined {
  const [tag, first] = [bytes[at], bytes[at + 1]]
  if (tag === undefined || first === undefined || at + 2 > limit) return undefined
  if ((tag & LONG_TAG) === LONG_TAG) return undefined
  if (first < 0x80) return elementOf(tag, at + 2, first, limit)
  const lengthBytes = first - 0x80
  if (lengthBytes === 0 || lengthBytes > LENGTH_BYTES_MAX) return undefined
  const start = at + 2 + lengthBytes
  if (start > limit) return undefined
  let length = 0
  for (const byte of bytes.subarray(at + 2, start)) length = length * 256 + byte
  const isMinimal = length >= (lengthBytes === 1 ? 0x80 : 256 ** (lengthBytes - 1))
  return isMinimal ? elementOf(tag, start, length, limit) : undefined
}

function elementOf(
  tag: number,
  start: number,
  length: number,
  limit: number,
): DerElement | undefined {
  const end = start + length
  return end <= limit ? { tag, start, end } : undefined
}

/** The elements that stand one after the other in a content; undefined when one has another tag, or is missing. */
export function readDerSequence(
  bytes: Uint8Array,
  { start, end }: Pick<DerElement, 'start' | 'end'>,
  tags: readonly number[],
): DerElement[] | undefined {
  const elements: DerElement[] = []
  let at = start
  for (const tag of tags) {
    const element = readDer(bytes, at, end)
    if (element?.tag !== tag) return undefined
    elements.push(element)
    at = element.end
  }
  return elements
}

/** All the elements that a content consists of; undefined when it does not consist of elements. */
export function readDerAll(
  bytes: Uint8Array,
  { start, end }: Pick<DerElement, 'start' | 'end'>,
): DerElement[] | undefined {
  const elements: DerElement[] = []
  for (let at = start; at < end; at = elements.at(-1)?.end ?? end) {
    const element = readDer(bytes, at, end)
    if (element === undefined) return undefined
    elements.push(element)
  }
  return elements
}

/** The content, as a view of the bytes. */
export function contentOf(
  bytes: Uint8Array,
  { start, end }: Pick<DerElement, 'start' | 'end'>,
): Buffer {
  return Buffer.from(bytes.buffer, bytes.byteOffset + start, end - start)
}
