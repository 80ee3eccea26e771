// What of the log may leave the vault, and what a hub says of its archive. docs/protocol.md ARC.

import { type LogSegment, SEGMENT_BLOCK_ENTRIES } from './log-segment.ts'

/** A segment is a subtree of the log’s tree, or a part of one. */
export const SEGMENT_ENTRIES_MAX = 65_536
/** The newest entries stay: the hub reads them. */
export const KEPT_ENTRIES_MIN = 1024
/** Younger entries stay: an agent may send the event of one again. */
export const ARCHIVE_AGE_MIN_MS = 30 * 86_400_000

export interface ArchivableFacts {
  /** The first entry at or after the time that somebody asked for, and the first one that is too young; undefined: none is. */
  readonly firstAfter: number | undefined
  readonly firstYoung: number | undefined
  /** What a checkpoint was signed for. */
  readonly signed: number
  readonly lastSeq: number
  /** How far the slowest webhook is; undefined without one. */
  readonly webhookSeq: number | undefined
}

/** The last entry that may be archived, at the end of a block of the tree; 0: none may. */
export function decideArchivableUntil(facts: ArchivableFacts): number {
  const { firstAfter, firstYoung, signed, lastSeq, webhookSeq } = facts
  const until = Math.min(
    (firstAfter ?? Number.POSITIVE_INFINITY) - 1,
    (firstYoung ?? Number.POSITIVE_INFINITY) - 1,
    signed,
    lastSeq - KEPT_ENTRIES_MIN,
    webhookSeq ?? Number.POSITIVE_INFINITY,
  )
  return Math.max(0, until - (until % SEGMENT_BLOCK_ENTRIES))
}

/** Where the next segment ends at the latest: none crosses the border of a subtree of its size. */
export function endOfNextSegment(archived: number, until: number): number {
  const border = (Math.floor(archived / SEGMENT_ENTRIES_MAX) + 1) * SEGMENT_ENTRIES_MAX
  return Math.min(border, until)
}

export interface ArchiveProgress {
  /** The last entry that is in a segment, and the last one that is no longer in the vault. */
  readonly archivedUntil: number
  readonly removedUntil: number
  /** How far this goes. */
  readonly target: number
  readonly isDone: boolean
}

export type SegmentState = 'present' | 'missing' | 'damaged'

export interface LogArchiver {
  /** Whether the file is there, and as long as it has to be. */
  findState(segment: LogSegment): Promise<SegmentState>
  /** How far an archiving of what is older than `before` would go. */
  findTarget(before: Date): Promise<number>
  /** The next segment, or the removal of some entries that are in one. Throws ArchiveError. */
  step(before: Date, actor: string): Promise<ArchiveProgress>
}
