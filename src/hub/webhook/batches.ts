// Entries that go at once, and what is skipped before them.

import type { AuditEntry } from '../domain/audit-entry.ts'

export interface Batch {
  /** Every entry up to here that comes before the batch is none that the endpoint gets; 0 when there is none. */
  readonly skippedSeq: number
  readonly entries: readonly AuditEntry[]
}

/** The last one may hold none, when a page ends in entries that are skipped. */
export function* batchesOf(
  page: readonly AuditEntry[],
  chosen: ReadonlySet<AuditEntry>,
  entriesMax: number,
): Generator<Batch> {
  let skippedSeq = 0
  let behindSeq = 0
  let entries: AuditEntry[] = []
  for (const entry of page) {
    if (chosen.has(entry)) entries.push(entry)
    // What lies between two that go at once is done when they are.
    else if (entries.length === 0) skippedSeq = entry.seq
    else behindSeq = entry.seq
    if (entries.length < entriesMax) continue
    yield { skippedSeq, entries }
    skippedSeq = 0
    behindSeq = 0
    entries = []
  }
  if (entries.length > 0 || skippedSeq > 0) yield { skippedSeq, entries }
  if (behindSeq > 0) yield { skippedSeq: behindSeq, entries: [] }
}

/** Half as many after each failure: what a receiver never takes holds up no more than itself. */
export function sizeAfter(failures: number, entriesMax: number): number {
  return Math.max(1, Math.floor(entriesMax / 2 ** failures))
}
