// The next entries of the log become a segment: written beside its name, synced, renamed, and then read again from the first byte to
// the last and held against the checkpoint that the hub signed. docs/protocol.md ARC-2 to ARC-5.

import { randomBytes } from 'node:crypto'
import { stat } from 'node:fs/promises'
import { join } from 'node:path'
import { ArchiveError } from '../../archive/archive-error.ts'
import { countSealedBytes, deriveSegmentKeys, packRecords } from '../../archive/segment-blocks.ts'
import {
  encodeSegmentHead,
  SEGMENT_SALT_BYTES,
  type SegmentHead,
} from '../../archive/segment-head.ts'
import { LogVerifier } from '../../audit/log-verifier.ts'
import { completeTree, EMPTY_FRONTIER, nodesOf, rootOf } from '../../audit/merkle-tree.ts'
import { parseRecord, type RecordedEntry } from '../../audit/record.ts'
import { formatVerifierKey } from '../../audit/signed-note.ts'
import { errnoCode, UserError } from '../../platform/errors.ts'
import { headMacOf, PieceSeal } from '../../platform/sealed-pieces.ts'
import type { Secret } from '../../platform/secret.ts'
import { streamToFile } from '../../platform/stream-to-file.ts'
import { readVersion } from '../../platform/version.ts'
import { type LogSegment, SEGMENT_BLOCK_ENTRIES } from '../domain/log-segment.ts'
import type { LogTree } from '../domain/log-tree.ts'
import { logVerifier, openCheckpoint } from '../service/log-tree.ts'
import { readLogNodes } from '../service/read-log-nodes.ts'
import type { StoreReader } from '../store/store.ts'
import { openSegmentFile } from './segment-file.ts'

/** What ends a segment early: it is held in memory while it is made. */
const SEGMENT_BYTES_MAX = 16 * 1024 * 1024
const SALT_CHARACTERS = 8

export interface WriteSegmentOptions {
  readonly reader: StoreReader
  readonly vaultId: string
  readonly directory: string
  readonly archiveKey: Secret<Buffer>
  readonly tree: LogTree
  /** What the first entry is chained to. */
  readonly previousHash: string
  readonly first: number
  /** Where it ends at the latest: at the end of a block. */
  readonly lastMax: number
  readonly now: Date
  /** Between two blocks, for others that have something to do. */
  readonly pause: () => Promise<void>
}

/**
 * Throws ArchiveError unless the file holds what was signed. It takes no name from another file: one that is there already was written by
 * a hub that was killed before it could record it, or by another hub at the same time, and is as good when it holds the same; or it is of
 * a log that ended.
 */
export async function writeSegment(options: WriteSegmentOptions): Promise<LogSegment> {
  const { directory, archiveKey } = options
  const { head, packed } = await collect(options)
  const keys = deriveSegmentKeys(archiveKey, head.salt)
  const start = encodeSegmentHead(head, keys.head)
  const seal = new PieceSeal(keys.blocks, headMacOf(start), packed.length)
  const pieces = async function* (): AsyncGenerator<Buffer, void> {
    yield start
    for (const [index, block] of packed.entries()) yield* seal.seal(index, block)
  }
  const name = nameOfSegment(options.vaultId, head)
  const isOurs = await isWritten(directory, `${name}.svcsegment`, pieces())
  try {
    return await readBack(`${name}.svcsegment`, head, options)
  } catch (error) {
    if (isOurs || !isOfAnotherLog(error)) throw error
  }
  const file = `${name}-${head.salt.slice(0, SALT_CHARACTERS)}.svcsegment`
  await isWritten(directory, file, pieces())
  return readBack(file, head, options)
}

/** False when the name is taken. */
async function isWritten(
  directory: string,
  file: string,
  pieces: AsyncIterable<Buffer>,
): Promise<boolean> {
  try {
    await streamToFile(join(directory, file), pieces, { replace: false })
    return true
  } catch (error) {
    if (error instanceof UserError && error.code === 'file_exists') return false
    const code = errnoCode(error)
    if (code === undefined) throw error
    throw new ArchiveError('archive_unusable', `cannot write into ${directory}: ${code}`, {
      cause: error,
      hint: 'SVC_LOG_ARCHIVE_DIR names a directory with room in which the hub may write',
    })
  }
}

/** It can be read, and has something else in it. */
function isOfAnotherLog(error: unknown): boolean {
  return error instanceof ArchiveError && error.code !== 'segment_missing'
}

async function readBack(
  file: string,
  { first, last, firstTimestamp, lastTimestamp, previousHash, hash }: SegmentHead,
  { directory, archiveKey, tree, now, pause }: WriteSegmentOptions,
): Promise<LogSegment> {
  const path = join(directory, file)
  const { size: bytes } = await stat(path)
  const segment = { first, last, firstTimestamp, lastTimestamp, previousHash, hash, file, bytes }
  await verifySegment(path, { archiveKey, tree, segment, pause })
  return { ...segment, createdAt: now }
}

/** In the order of their names they are in the order of the log. A log that goes on from an old backup has other names. */
function nameOfSegment(
  vaultId: string,
  { first, last, hash }: Pick<SegmentHead, 'first' | 'last' | 'hash'>,
): string {
  const [from, to] = [first, last].map((seq) => String(seq).padStart(12, '0'))
  return `${vaultId}-${from}-${to}-${hash.slice(0, 8)}`
}

interface Collected {
  readonly head: SegmentHead
  readonly packed: readonly Buffer[]
}

async function collect(options: WriteSegmentOptions): Promise<Collected> {
  const { reader, first, lastMax, tree, pause } = options
  const packed: Buffer[] = []
  let ends: { readonly first: RecordedEntry; readonly last: RecordedEntry } | undefined
  for (let after = first - 1, bytes = 0; after < lastMax && bytes < SEGMENT_BYTES_MAX;) {
    const records = await reader.listRecords(after, SEGMENT_BLOCK_ENTRIES)
    const [start, end] = [parseRecord(records[0] ?? ''), parseRecord(records.at(-1) ?? '')]
    after += SEGMENT_BLOCK_ENTRIES
    if (start === undefined || end?.seq !== after) throw notAsSigned(`entry ${after} is missing`)
    ends = { first: ends?.first ?? start, last: end }
    const block = await packRecords(records)
    packed.push(block)
    bytes += block.length
    await pause()
  }
  if (ends === undefined) throw notAsSigned(`entry ${first} is missing`)
  const { seq: last } = ends.last
  const head: SegmentHead = {
    vaultId: options.vaultId,
    createdAt: options.now.toISOString(),
    program: readVersion(),
    first,
    last,
    firstTimestamp: ends.first.timestamp,
    lastTimestamp: ends.last.timestamp,
    previousHash: options.previousHash,
    hash: ends.last.hash,
    checkpoint: tree.checkpoint,
    key: formatVerifierKey(logVerifier(tree)),
    left: await readHashes(reader, 0, first - 1),
    right: await readHashes(reader, last, tree.frontier.size),
    salt: randomBytes(SEGMENT_SALT_BYTES).toString('hex'),
    blocks: packed.map((block) => countSealedBytes(block.length)),
  }
  return { head, packed }
}

async function readHashes(reader: StoreReader, start: number, end: number): Promise<string[]> {
  const hashes = await readLogNodes(reader, nodesOf(start, end))
  return hashes.map((hash) => hash.toString('base64'))
}

export interface VerifySegmentOptions {
  readonly archiveKey: Secret<Buffer>
  readonly tree: LogTree
  readonly segment: Omit<LogSegment, 'createdAt'>
  readonly pause: () => Promise<void>
}

/** Reads all of it, as anybody will who needs it one day. */
async function verifySegment(
  path: string,
  { archiveKey, tree, segment, pause }: VerifySegmentOptions,
): Promise<void> {
  const file = await openSegmentFile(path, archiveKey, segment)
  try {
    const { first, last, left, right, checkpoint, blocks } = file.head
    const signed = openCheckpoint(tree, checkpoint)
    const before = completeTree(EMPTY_FRONTIER, first - 1, fromBase64(left))
    if (signed === undefined || before === undefined) throw notAsSigned('its proof is none')
    const verifier = new LogVerifier([], before)
    for (const index of blocks.keys()) {
      for (const record of await file.readBlock(index)) {
        const entry = parseRecord(record)
        if (entry === undefined) throw notAsSigned(`entry ${verifier.count + 1} has no form`)
        if (entry.seq === first && entry.previousHash !== segment.previousHash) {
          throw notAsSigned(`entry ${first} is not chained to the entry before it`)
        }
        verifier.add(entry, record)
      }
      await pause()
    }
    const { chainFault, count, head } = verifier
    if (chainFault !== undefined) throw notAsSigned(`entry ${chainFault.seq}: ${chainFault.reason}`)
    const whole = completeTree(verifier.readTree(), signed.size, fromBase64(right))
    const isWhole = count === last && head === segment.hash
    if (isWhole && whole !== undefined && rootOf(whole).equals(signed.root)) return
    throw notAsSigned(
      `the entries ${first} to ${last} are not those that a checkpoint was signed for`,
    )
  } finally {
    await file.close()
  }
}

function fromBase64(hashes: readonly string[]): Buffer[] {
  return hashes.map((hash) => Buffer.from(hash, 'base64'))
}

/** Such a log stays where it is, to be looked at. */
function notAsSigned(reason: string): ArchiveError {
  return new ArchiveError('log_not_as_signed', `the audit log is not as it was signed: ${reason}`, {
    hint: 'svc evento list --verify says more; nothing was removed from the vault',
  })
}
