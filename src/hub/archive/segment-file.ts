// A segment, open: its head, which was authenticated, and one block after the other, each read and opened when it is asked for.

import { constants } from 'node:fs'
import { type FileHandle, open } from 'node:fs/promises'
import { ArchiveError } from '../../archive/archive-error.ts'
import { deriveSegmentKeys, unpackRecords } from '../../archive/segment-blocks.ts'
import {
  countSegmentHeadBytes,
  damagedSegment,
  openSegmentHead,
  SEGMENT_START_BYTES,
  type SegmentHead,
} from '../../archive/segment-head.ts'
import { errnoCode } from '../../platform/errors.ts'
import { headMacOf, PieceSeal } from '../../platform/sealed-pieces.ts'
import type { Secret } from '../../platform/secret.ts'
import { type LogSegment, SEGMENT_BLOCK_ENTRIES } from '../domain/log-segment.ts'

export interface SegmentFile {
  readonly head: SegmentHead
  /** The records of the entries of one block, from 0. */
  readBlock(this: void, index: number): Promise<string[]>
  close(this: void): Promise<void>
}

/** What the vault knows of the segment. */
type Expected = Pick<LogSegment, 'first' | 'last' | 'hash' | 'previousHash' | 'bytes'>

/** Throws ArchiveError: the head is not the one of this segment of this vault, or the file is not as long as it has to be. */
export async function openSegmentFile(
  path: string,
  archiveKey: Secret<Buffer>,
  expected: Expected,
): Promise<SegmentFile> {
  const file = await openForReading(path, expected)
  try {
    return await readSegment(file, path, archiveKey, expected)
  } catch (error) {
    await file.close()
    throw error
  }
}

async function readSegment(
  file: FileHandle,
  path: string,
  archiveKey: Secret<Buffer>,
  expected: Expected,
): Promise<SegmentFile> {
  const headBytes = countSegmentHeadBytes(await readAt(file, 0, SEGMENT_START_BYTES), path)
  const bytes = await readAt(file, 0, headBytes)
  if (bytes.length < headBytes) throw damagedSegment(path)
  const head = openSegmentHead(bytes, (salt) => deriveSegmentKeys(archiveKey, salt).head, path)
  const { first, last, hash, previousHash, blocks, salt } = head
  const isExpected =
    first === expected.first &&
    last === expected.last &&
    hash === expected.hash &&
    previousHash === expected.previousHash
  const offsets = offsetsOf(headBytes, blocks)
  const { size } = await file.stat()
  if (!isExpected || size !== expected.bytes || offsets.at(-1) !== size) throw damagedSegment(path)
  const keys = deriveSegmentKeys(archiveKey, salt)
  const seal = new PieceSeal(keys.blocks, headMacOf(bytes), blocks.length)
  return {
    head,
    readBlock: async (index) => {
      const [start = 0, end = 0] = offsets.slice(index, index + 2)
      const packed = seal.open(index, await readAt(file, start, end - start))
      if (packed === undefined) throw damagedSegment(path)
      const records = await unpackRecords(packed, path)
      if (records.length !== SEGMENT_BLOCK_ENTRIES) throw damagedSegment(path)
      return records
    },
    close: () => file.close(),
  }
}

/** Where each block begins, and where the last one ends. */
function offsetsOf(headBytes: number, blocks: readonly number[]): number[] {
  const offsets = [headBytes]
  for (const bytes of blocks) offsets.push((offsets.at(-1) ?? 0) + bytes)
  return offsets
}

async function openForReading(path: string, { first, last }: Expected): Promise<FileHandle> {
  try {
    return await open(path, constants.O_RDONLY | constants.O_NOFOLLOW)
  } catch (error) {
    if (errnoCode(error) === undefined) throw error
    throw new ArchiveError(
      'segment_missing',
      `${path} cannot be read (${errnoCode(error)}): it has the entries ${first} to ${last} of the audit log`,
      { cause: error },
    )
  }
}

async function readAt(file: FileHandle, position: number, length: number): Promise<Buffer> {
  const bytes = Buffer.alloc(length)
  let done = 0
  while (done < length) {
    const { bytesRead } = await file.read(bytes, done, length - done, position + done)
    if (bytesRead === 0) break
    done += bytesRead
  }
  return bytes.subarray(0, done)
}
