// What can be said of an age file without a key: how many it is for, and how much it holds.
// https://age-encryption.org/v1: a version line, a stanza for each recipient, a MAC, then 16 bytes of nonce and chunks
// of 64 KiB with 16 bytes of tag each. Base64 is canonical, as in every reader of the format.

import {
  AGE_HEADER_BYTES_MAX,
  CHUNK_BYTES,
  HYBRID_STANZA,
  NONCE_BYTES,
  TAG_BYTES,
  VERSION_LINE,
} from './recipients/sealed-size.ts'

export type AgeHeader =
  | {
      readonly ok: true
      /** One stanza each. */
      readonly recipientCount: number
      /** Of the content inside. */
      readonly contentBytes: number
    }
  | { readonly ok: false; readonly reason: string }

const STANZA_LINE = /^-> ([\x21-\x7e]+)(?: [\x21-\x7e]+)*$/
/** With the 1,120 bytes of an encapsulated key. */
const HYBRID_STANZA_LINE = /^-> mlkem768x25519 [A-Za-z0-9+/]{1493}[AQgw]$/
/** 32 bytes. */
const HYBRID_BODY_LINE = /^[A-Za-z0-9+/]{42}[AEIMQUYcgkosw048]$/
const MAC_LINE = /^--- [A-Za-z0-9+/]{42}[AEIMQUYcgkosw048]$/
const KIND_CHARACTERS_SHOWN = 40

/** `headerBytesMax` bounds what is looked through for the header's end. */
export function readAgeHeader(
  file: Uint8Array,
  headerBytesMax: number = AGE_HEADER_BYTES_MAX,
): AgeHeader {
  const start = Buffer.from(file.buffer, file.byteOffset, Math.min(file.length, headerBytesMax))
  const lines = linesOf(start)
  if (lines.next().value?.text !== VERSION_LINE) return refuse('it is not an age file')
  let recipientCount = 0
  for (const { text, end } of lines) {
    if (MAC_LINE.test(text)) {
      if (recipientCount === 0) return refuse('it is sealed to nobody')
      return withPayload(recipientCount, file.length - end)
    }
    const fault = findStanzaFault(text, lines)
    if (fault !== undefined) return refuse(fault)
    recipientCount += 1
  }
  return refuse('its header has no end')
}

/** Takes the stanza's body from `lines`. */
function findStanzaFault(first: string, lines: Iterator<Line, undefined>): string | undefined {
  const [, kind] = STANZA_LINE.exec(first) ?? []
  if (kind === undefined) return 'its header is malformed'
  if (kind !== HYBRID_STANZA) {
    const shown = kind.slice(0, KIND_CHARACTERS_SHOWN)
    return `it is sealed to a recipient that is not post-quantum: ${shown}`
  }
  const body = lines.next().value?.text
  if (body === undefined) return 'its header has no end'
  return HYBRID_STANZA_LINE.test(first) && HYBRID_BODY_LINE.test(body)
    ? undefined
    : 'a stanza in its header is malformed'
}

function withPayload(recipientCount: number, payloadBytes: number): AgeHeader {
  const chunkedBytes = payloadBytes - NONCE_BYTES
  const chunkCount = Math.max(1, Math.ceil(chunkedBytes / (CHUNK_BYTES + TAG_BYTES)))
  const contentBytes = chunkedBytes - chunkCount * TAG_BYTES
  // Only the one chunk of an empty content is empty itself.
  const isWhole =
    chunkCount === 1 ? contentBytes >= 0 : contentBytes > (chunkCount - 1) * CHUNK_BYTES
  return isWhole ? { ok: true, recipientCount, contentBytes } : refuse('its content is cut short')
}

function refuse(reason: string): AgeHeader {
  return { ok: false, reason }
}

interface Line {
  readonly text: string
  /** Where the next one begins. */
  readonly end: number
}

function* linesOf(bytes: Buffer): Generator<Line, undefined> {
  for (let start = 0; ;) {
    const end = bytes.indexOf(0x0a, start)
    if (end === -1) return undefined
    yield { text: bytes.toString('latin1', start, end), end: end + 1 }
    start = end + 1
  }
}
