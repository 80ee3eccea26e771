// The head of a segment: which entries it has, and how they are held against the log. Nothing in it is secret.
//
//   8 bytes    SVCSEGM1
//   4 bytes    length of the text that follows, big-endian
//   n bytes    JSON, UTF-8: the fields of SegmentHead
//   32 bytes   HMAC-SHA256 of everything before, under a key of the vault
//
// docs/protocol.md ARC-3.

import { createHmac, timingSafeEqual } from 'node:crypto'
import { ArchiveError } from './archive-error.ts'

export interface SegmentHead {
  readonly vaultId: string
  /** RFC 3339. */
  readonly createdAt: string
  /** Version of the program that made it. */
  readonly program: string
  readonly first: number
  readonly last: number
  readonly firstTimestamp: string
  readonly lastTimestamp: string
  /** What the first entry is chained to. */
  readonly previousHash: string
  /** Of the last entry. */
  readonly hash: string
  /** A signed note of `last` entries or more, and the key that signed it. */
  readonly checkpoint: string
  readonly key: string
  /** Base64, of the full subtrees before the segment and after it: docs/protocol.md CHN-31. */
  readonly left: readonly string[]
  readonly right: readonly string[]
  /** Of the keys of this segment, lower-case hex. */
  readonly salt: string
  /** How many bytes each block has, sealed. */
  readonly blocks: readonly number[]
}

const MAGIC = Buffer.from('SVCSEGM1')
const FORMAT = 1
const LENGTH_BYTES = 4
/** A segment has 256 blocks at most, and a tree some hashes for each power of two. */
const TEXT_BYTES_MAX = 64 * 1024
const MAC_BYTES = 32
export const SEGMENT_START_BYTES: number = MAGIC.length + LENGTH_BYTES
export const SEGMENT_SALT_BYTES = 32

/** Its last 32 bytes are its MAC. */
export function encodeSegmentHead(head: SegmentHead, key: Buffer): Buffer {
  const text = Buffer.from(JSON.stringify({ format: FORMAT, ...head }))
  const length = Buffer.alloc(LENGTH_BYTES)
  length.writeUInt32BE(text.length)
  const described = Buffer.concat([MAGIC, length, text])
  return Buffer.concat([described, macOf(described, key)])
}

/** How many bytes the whole head has, by its first SEGMENT_START_BYTES bytes. `name` is for messages. */
export function countSegmentHeadBytes(start: Buffer, name: string): number {
  if (start.length < SEGMENT_START_BYTES || !start.subarray(0, MAGIC.length).equals(MAGIC)) {
    throw new ArchiveError('segment_unknown', `${name} is no segment of an audit log`)
  }
  const textBytes = start.readUInt32BE(MAGIC.length)
  if (textBytes > TEXT_BYTES_MAX) throw damagedSegment(name)
  return SEGMENT_START_BYTES + textBytes + MAC_BYTES
}

/** The salt is needed for the key; nothing else is believed before the MAC is right. */
export function openSegmentHead(
  bytes: Buffer,
  keyOf: (salt: string) => Buffer,
  name: string,
): SegmentHead {
  const described = bytes.subarray(0, bytes.length - MAC_BYTES)
  const fields = parseJson(described.subarray(SEGMENT_START_BYTES).toString('utf8'))
  const { format, salt, program } = fields
  if (typeof format === 'number' && format > FORMAT) {
    throw new ArchiveError(
      'segment_newer',
      `${name} has format ${format}, this program knows format ${FORMAT}`,
      { hint: `use the newer version of the program: ${String(program)} wrote it` },
    )
  }
  if (typeof salt !== 'string' || !SALT.test(salt)) throw damagedSegment(name)
  const mac = macOf(described, keyOf(salt))
  if (!timingSafeEqual(mac, bytes.subarray(described.length))) throw damagedSegment(name)
  // What has the MAC was written by encodeSegmentHead.
  return fields as unknown as SegmentHead
}

export function damagedSegment(name: string): ArchiveError {
  return new ArchiveError(
    'segment_damaged',
    `${name} is damaged, or is not the segment that the vault archived under this name`,
    { hint: 'put another copy of this file in its place' },
  )
}

const SALT = /^[0-9a-f]{64}$/

function macOf(bytes: Buffer, key: Buffer): Buffer {
  return createHmac('sha256', key).update(bytes).digest()
}

function parseJson(text: string): Readonly<Record<string, unknown>> {
  try {
    const value: unknown = JSON.parse(text)
    return typeof value === 'object' && value !== null ? (value as Record<string, unknown>) : {}
  } catch {
    return {}
  }
}
