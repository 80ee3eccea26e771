// The blocks of a segment: the records of up to 256 entries each, compressed by zlib and sealed with AES-256-GCM under a key that this
// segment alone has. A nonce is the number of the block and whether it is the last one, and the MAC of the head goes into each seal: a
// block opens only in its own place of its own segment. docs/protocol.md ARC-4.

import { promisify } from 'node:util'
import { deflate, inflate } from 'node:zlib'
import { deriveSaltedKey, SEAL_BYTES } from '../platform/sealed-pieces.ts'
import type { Secret } from '../platform/secret.ts'
import { damagedSegment } from './segment-head.ts'

const LENGTH_BYTES = 4
/** 256 entries of the largest that an event may be, many times over. */
const BLOCK_BYTES_MAX = 256 * 1024 * 1024

const compress = promisify(deflate)
const expand = promisify(inflate)

export interface SegmentKeys {
  readonly head: Buffer
  readonly blocks: Buffer
}

/** `salt` as the head has it. */
export function deriveSegmentKeys(archiveKey: Secret<Buffer>, salt: string): SegmentKeys {
  const derive = (purpose: string): Buffer => deriveSaltedKey(archiveKey, salt, purpose)
  return { head: derive('svc segment head v1'), blocks: derive('svc segment blocks v1') }
}

/** The length of each record in bytes, big-endian, and its UTF-8; compressed off the event loop. */
export async function packRecords(records: readonly string[]): Promise<Buffer> {
  const pieces = records.flatMap((record) => {
    const bytes = Buffer.from(record)
    const length = Buffer.alloc(LENGTH_BYTES)
    length.writeUInt32BE(bytes.length)
    return [length, bytes]
  })
  return compress(Buffer.concat(pieces))
}

/** `name` is for messages. */
export async function unpackRecords(packed: Buffer, name: string): Promise<string[]> {
  const bytes = await expand(packed, { maxOutputLength: BLOCK_BYTES_MAX })
  const records: string[] = []
  for (let at = 0; at < bytes.length;) {
    const end = at + LENGTH_BYTES + bytes.readUInt32BE(at)
    if (end > bytes.length) throw damagedSegment(name)
    records.push(bytes.toString('utf8', at + LENGTH_BYTES, end))
    at = end
  }
  return records
}

/** How many bytes a block has, by what it seals. */
export function countSealedBytes(packedBytes: number): number {
  return packedBytes + SEAL_BYTES
}
