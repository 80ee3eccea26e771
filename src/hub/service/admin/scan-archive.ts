// Archived entries that a list is about. No index knows them, so every block of the archive is looked at, with turns for everybody else.

import { parseRecord } from '../../../audit/record.ts'
import type { AgentId, DeliveryId, EntryId } from '../../../protocol/identifiers.ts'
import { isRoutine } from '../../../protocol/routine-events.ts'
import type { AuditEntry } from '../../domain/audit-entry.ts'
import { subjectsOfAct } from '../../domain/entry-subject.ts'
import { SEGMENT_BLOCK_ENTRIES } from '../../domain/log-segment.ts'
import type { EntrySource, StoreReader } from '../../store/store.ts'
import type { EntryChoice } from './choose-entries.ts'
import type { EntryWindow } from './read-chosen.ts'

/** After so many a page ends, whatever it has: half a million entries take some seconds. */
export const BLOCKS_MAX = 2048

export interface FoundEntries {
  /** In the order of the window. */
  readonly entries: readonly AuditEntry[]
  /** Up to this entry, in the direction of the window, all were looked at; undefined where that is to the end. */
  readonly lookedTo: number | undefined
}

/** Of the entries up to `until`. Throws ArchiveError. */
export async function scanArchive(
  reader: StoreReader,
  choice: EntryChoice,
  { afterSeq, beforeSeq = Number.MAX_SAFE_INTEGER, isNewestFirst, limit }: EntryWindow,
  until: number,
): Promise<FoundEntries> {
  const [first, last] = [afterSeq + 1, Math.min(until, beforeSeq - 1)]
  const found: AuditEntry[] = []
  let at = isNewestFirst ? last : first
  for (let blocks = 0; at >= first && at <= last && found.length < limit; blocks += 1) {
    if (blocks >= BLOCKS_MAX) return { entries: found, lookedTo: isNewestFirst ? at + 1 : at - 1 }
    const start = at - ((at - 1) % SEGMENT_BLOCK_ENTRIES)
    const end = start + SEGMENT_BLOCK_ENTRIES - 1
    const from = Math.max(first, start)
    const records = await reader.listRecords(from - 1, Math.min(last, end) - from + 1)
    const entries: AuditEntry[] = []
    for (const record of records) {
      const entry = await findWanted(reader, choice, record)
      if (entry !== undefined) entries.push(entry)
    }
    found.push(...(isNewestFirst ? entries.toReversed() : entries))
    at = isNewestFirst ? start - 1 : end + 1
  }
  const entries = found.slice(0, limit)
  // Of the last block only what is answered was looked at.
  return { entries, lookedTo: found.length > limit ? entries.at(-1)?.seq : undefined }
}

async function findWanted(
  reader: StoreReader,
  { sources, matches }: EntryChoice,
  record: string,
): Promise<AuditEntry | undefined> {
  const isPossible = sources.some(
    (source) => source.by === 'subject' || source.by === 'notable' || record.includes(source.value),
  )
  const entry = isPossible ? toEntry(record) : undefined
  if (entry === undefined) return undefined
  for (const source of sources) {
    if (await isOf(reader, entry, source))
      return matches === undefined || matches(entry) ? entry : undefined
  }
  return undefined
}

async function isOf(reader: StoreReader, entry: AuditEntry, source: EntrySource): Promise<boolean> {
  if (source.by === 'notable') return !isRoutine(entry.eventType)
  if (source.by === 'sender') return entry.agentId === source.value
  if (source.by === 'type') return entry.eventType === source.value
  return isAbout(reader, entry, source.value)
}

async function isAbout(reader: StoreReader, entry: AuditEntry, subject: string): Promise<boolean> {
  if (entry.agentId !== null) return false
  const delivery =
    entry.deliveryId === null ? undefined : await reader.findDelivery(entry.deliveryId)
  return subjectsOfAct(entry, delivery?.agentId).includes(subject)
}

function toEntry(record: string): AuditEntry | undefined {
  const entry = parseRecord(record)
  if (entry === undefined) return undefined
  // The hub wrote them as it had parsed them.
  return {
    ...entry,
    id: entry.id as EntryId,
    agentId: entry.agentId as AgentId | null,
    deliveryId: entry.deliveryId as DeliveryId | null,
  }
}
