// What a hub that shares its journal has of it, when a client of the metrics port asks.

import type { MetricSet } from '../../platform/metric-set.ts'
import type { JournalSize } from '../store/journal-images.ts'
import type { HubMetrics } from './hub-metrics.ts'

export interface JournalSeen {
  /** Of the last record that is here. */
  readonly position: () => number
  /** As the hub saw the journal last; undefined before that. */
  readonly look: () => { readonly size: JournalSize; readonly at: Date } | undefined
}

/** Nothing for a vault that shares none. */
export function collectJournal(
  set: MetricSet<HubMetrics>,
  { position, look }: JournalSeen = { position: () => 0, look: () => undefined },
): void {
  const seen = look()
  const newest = seen?.size.newest
  const gauges = {
    svc_journal_last_record: seen && position(),
    svc_journal_behind_records: seen && Math.max(0, seen.size.end - position()),
    svc_journal_seen_timestamp_seconds: seen && seen.at.getTime() / 1000,
    svc_journal_records_since_image: seen?.size.recordsSince,
    svc_journal_bytes_since_image: seen?.size.recordBytesSince,
    svc_journal_image_size_bytes: newest?.bytes,
    svc_journal_image_timestamp_seconds:
      newest && seen && (seen.at.getTime() - newest.ageMs) / 1000,
  } as const
  for (const [name, value] of Object.entries(gauges)) {
    // It has the keys of the object.
    set.replace(name as keyof typeof gauges, value === undefined ? [] : [{ labels: {}, value }])
  }
}
