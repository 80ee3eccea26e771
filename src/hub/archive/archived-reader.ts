// The log as its readers see it, wherever its entries are: what has left the vault is read from the segments. Everything else is the
// store's own. docs/protocol.md ARC-8.

import { formatTimestamp } from '../../audit/hash-chain.ts'
import { parseRecord } from '../../audit/record.ts'
import { ArchiveError } from '../../archive/archive-error.ts'
import type { AuditEntry } from '../domain/audit-entry.ts'
import { SEGMENT_BLOCK_ENTRIES } from '../domain/log-segment.ts'
import type { EntryFilter, StoreReader } from '../store/store.ts'
import { ArchivedLog, toArchivedEntry } from './archived-log.ts'

type LogReads = Pick<
  StoreReader,
  'listRecords' | 'listEntries' | 'listLastEntries' | 'findEntries' | 'findFirstSeqSince'
>

/** What of it needs a segment throws ArchiveError, with the entries that cannot be read, when that is not there. */
export function withArchive(inner: StoreReader, directory: string | undefined): StoreReader {
  const archive = new ArchivedLog(inner, directory)
  const reads: LogReads = {
    listRecords: (afterSeq, limit) => listRecords(inner, archive, afterSeq, limit),
    listEntries: (filter) => listEntries(inner, archive, filter),
    listLastEntries: (filter, count) => listLastEntries(inner, archive, filter, count),
    findEntries: (seqs) => findEntries(inner, archive, seqs),
    findFirstSeqSince: (since) => findFirstSeqSince(inner, archive, since),
  }
  // All other methods are those of the store's reader.
  return Object.assign(Object.create(inner) as StoreReader, reads)
}

async function findArchivedUntil(inner: StoreReader): Promise<number> {
  return (await inner.findLastSegment())?.last ?? 0
}

async function listRecords(
  inner: StoreReader,
  archive: ArchivedLog,
  afterSeq: number,
  limit: number,
): Promise<string[]> {
  const until = await findArchivedUntil(inner)
  const found: string[] = []
  for (let after = afterSeq; found.length < limit; after = afterSeq + found.length) {
    const left = limit - found.length
    const records = await inner.listRecords(after, left)
    if (after >= until || parseRecord(records[0] ?? '')?.seq === after + 1) {
      return [...found, ...records]
    }
    const { first, records: block } = await archive.readBlock(after + 1)
    found.push(...block.slice(after + 1 - first).slice(0, left))
  }
  return found
}

/** With a type every block is looked at: no index knows what is in a segment. */
async function listEntries(
  inner: StoreReader,
  archive: ArchivedLog,
  filter: EntryFilter,
): Promise<AuditEntry[]> {
  const { afterSeq, beforeSeq = Number.POSITIVE_INFINITY, limit, eventType } = filter
  const until = await findArchivedUntil(inner)
  const found: AuditEntry[] = []
  const end = Math.min(until, beforeSeq - 1)
  for (let seq = afterSeq + 1; seq <= end && found.length < limit;) {
    const block = await readEntries(inner, archive, seq)
    const wanted = block.filter(
      (entry) =>
        entry.seq >= seq && entry.seq <= end && (eventType ?? entry.eventType) === entry.eventType,
    )
    found.push(...wanted.slice(0, limit - found.length))
    seq = endOfBlock(seq) + 1
  }
  if (found.length === limit) return found
  const rest = { ...filter, afterSeq: Math.max(afterSeq, until), limit: limit - found.length }
  return [...found, ...(await inner.listEntries(rest))]
}

/** Of a type, those that the vault has: nobody asks for the last ones of a type who needs old ones. */
async function listLastEntries(
  inner: StoreReader,
  archive: ArchivedLog,
  filter: Partial<Omit<EntryFilter, 'limit'>>,
  count: number,
): Promise<AuditEntry[]> {
  const { afterSeq = 0, beforeSeq = Number.POSITIVE_INFINITY, eventType } = filter
  const until = await findArchivedUntil(inner)
  if (eventType !== undefined || afterSeq >= until) return inner.listLastEntries(filter, count)
  let found = await inner.listLastEntries({ ...filter, afterSeq: until }, count)
  for (let end = Math.min(until, beforeSeq - 1); end > afterSeq && found.length < count;) {
    const start = end - ((end - 1) % SEGMENT_BLOCK_ENTRIES)
    const block = await readEntries(inner, archive, start)
    const last = end
    const wanted = block.filter(({ seq }) => seq > afterSeq && seq <= last)
    found = [...wanted.slice(-(count - found.length)), ...found]
    end = start - 1
  }
  return found
}

async function findEntries(
  inner: StoreReader,
  archive: ArchivedLog,
  seqs: readonly number[],
): Promise<AuditEntry[]> {
  const found = await inner.findEntries(seqs)
  const until = await findArchivedUntil(inner)
  if (found.length === seqs.length || seqs.every((seq) => seq > until)) return found
  const bySeq = new Map(found.map((entry) => [entry.seq, entry]))
  for (const seq of seqs) {
    if (seq > until || seq < 1 || bySeq.has(seq)) continue
    const { records } = await archive.readBlock(seq)
    for (const entry of records.map(toArchivedEntry)) bySeq.set(entry.seq, entry)
  }
  return seqs.flatMap((seq) => bySeq.get(seq) ?? [])
}

/** Of a segment that is not there, its first entry: the next read finds that out. */
async function findFirstSeqSince(
  inner: StoreReader,
  archive: ArchivedLog,
  since: Date,
): Promise<number | undefined> {
  const segment = await inner.findSegmentSince(since)
  if (segment === undefined) return inner.findFirstSeqSince(since)
  const wanted = formatTimestamp(since)
  const isBefore = (record: string): boolean => toArchivedEntry(record).timestamp < wanted
  try {
    let [from, to] = [segment.first, segment.last]
    while (to - from >= SEGMENT_BLOCK_ENTRIES) {
      const half = Math.floor((to + 1 - from) / 2 / SEGMENT_BLOCK_ENTRIES) * SEGMENT_BLOCK_ENTRIES
      const { records } = await archive.readBlock(from + half - 1)
      if (isBefore(records.at(-1) ?? '')) from += half
      else to = from + half - 1
    }
    const { first, records } = await archive.readBlock(from)
    return first + records.findIndex((record) => !isBefore(record))
  } catch (error) {
    if (error instanceof ArchiveError) return segment.first
    throw error
  }
}

/** From this one to the end of its block at most; the first is the one that was asked for. */
async function readEntries(
  inner: StoreReader,
  archive: ArchivedLog,
  seq: number,
): Promise<AuditEntry[]> {
  const limit = endOfBlock(seq) - seq + 1
  const entries = await inner.listEntries({ afterSeq: seq - 1, limit })
  // The vault still has what it removes next.
  if (entries[0]?.seq === seq) return entries
  const { first, records } = await archive.readBlock(seq)
  return records.slice(seq - first).map(toArchivedEntry)
}

function endOfBlock(seq: number): number {
  return seq - ((seq - 1) % SEGMENT_BLOCK_ENTRIES) + SEGMENT_BLOCK_ENTRIES - 1
}
