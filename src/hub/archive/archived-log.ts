// The entries that lie in segments, by their numbers: a block of them at a time. docs/protocol.md ARC-8.

import { join } from 'node:path'
import { ArchiveError } from '../../archive/archive-error.ts'
import { parseRecord } from '../../audit/record.ts'
import { invariant } from '../../platform/errors.ts'
import type { AgentId, DeliveryId, EntryId } from '../../protocol/identifiers.ts'
import type { AuditEntry } from '../domain/audit-entry.ts'
import { type LogSegment, SEGMENT_BLOCK_ENTRIES } from '../domain/log-segment.ts'
import type { StoreReader } from '../store/store.ts'
import { openSegmentFile } from './segment-file.ts'

export interface ArchivedBlock {
  /** Of its first entry. */
  readonly first: number
  readonly records: readonly string[]
}

export class ArchivedLog {
  readonly #reader: StoreReader
  readonly #directory: string | undefined

  constructor(reader: StoreReader, directory: string | undefined) {
    this.#reader = reader
    this.#directory = directory
  }

  /** The block that has this entry, which a segment has. Throws ArchiveError. */
  async readBlock(seq: number): Promise<ArchivedBlock> {
    const first = seq - ((seq - 1) % SEGMENT_BLOCK_ENTRIES)
    const segment = await this.#reader.findSegment(first)
    const archiveKey = await this.#reader.findArchiveKey()
    invariant(segment !== undefined && archiveKey !== undefined, 'a segment has the entry')
    try {
      const file = await openSegmentFile(this.#pathOf(segment), archiveKey, segment)
      try {
        const index = (first - segment.first) / SEGMENT_BLOCK_ENTRIES
        return { first, records: await file.readBlock(index) }
      } finally {
        await file.close()
      }
    } catch (error) {
      throw namingRange(error, segment)
    }
  }

  #pathOf({ file, first, last }: LogSegment): string {
    if (this.#directory !== undefined) return join(this.#directory, file)
    throw new ArchiveError(
      'segment_missing',
      `${file} has the entries ${first} to ${last} of the audit log, and SVC_LOG_ARCHIVE_DIR is not set`,
    )
  }
}

function namingRange(error: unknown, { file, first, last }: LogSegment): unknown {
  if (!(error instanceof ArchiveError)) return error
  const { code, message, hint } = error
  const range = { file, first, last }
  return new ArchiveError(code, message, {
    cause: error.cause,
    range,
    ...(hint !== undefined && { hint }),
  })
}

export function toArchivedEntry(record: string): AuditEntry {
  const entry = parseRecord(record)
  invariant(entry !== undefined, 'a segment that was verified has records')
  // The hub wrote them as it had parsed them.
  return {
    ...entry,
    id: entry.id as EntryId,
    agentId: entry.agentId as AgentId | null,
    deliveryId: entry.deliveryId as DeliveryId | null,
  }
}
