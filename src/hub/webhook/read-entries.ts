import type { AuditEntry } from '../domain/audit-entry.ts'
import { sentTypes } from '../domain/urgent-entries.ts'
import type { Webhook } from '../domain/webhook.ts'
import type { StoreReader } from '../store/store.ts'

const PAGE_ENTRIES = 16
/** Of these an endpoint with a selector may get few, and one that takes many at once gets all in one. */
const LARGE_PAGE_ENTRIES = 100

/** The next entries of an endpoint's types, oldest first; empty when the log has no further ones yet. */
export async function readEntries(
  reader: StoreReader,
  webhook: Pick<Webhook, 'url' | 'types' | 'where'>,
  afterSeq: number,
  messagesMax: number,
): Promise<AuditEntry[]> {
  const types = sentTypes(webhook)
  const limit = webhook.where === null && messagesMax === 1 ? PAGE_ENTRIES : LARGE_PAGE_ENTRIES
  const page = { afterSeq, limit }
  if (types.length === 0) return reader.listEntries(page)
  // Each type has its place in an index; all of them at once would have to be sorted.
  const pages = await Promise.all(
    types.map((eventType) => reader.listEntries({ ...page, eventType })),
  )
  return pages
    .flat()
    .sort((one, other) => one.seq - other.seq)
    .slice(0, limit)
}
