import type { AdminOperations, AdminRequest } from '../../../protocol/admin/operations.ts'
import type { AdminEntry } from '../../../protocol/admin/views.ts'
import { ENTRY_PAGE_MAX } from '../../../protocol/admin/bounds.ts'
import { readAhead } from '../read-ahead.ts'

export type EntryQuery = Pick<
  AdminRequest<'listEntries'>,
  'tipo' | 'tipos' | 'agente' | 'about' | 'actor' | 'by' | 'routine' | 'since' | 'until' | 'before'
>

export interface EntryRange {
  /** The `seq` before the first one. */
  readonly after?: number
  readonly limit?: number | undefined
}

/** All entries that match, oldest first, page by page: the first `limit` of those after `after`. */
export async function* readEntryPages(
  operations: Pick<AdminOperations, 'listEntries'>,
  query: EntryQuery,
  { after: start = 0, limit = Number.POSITIVE_INFINITY }: EntryRange = {},
): AsyncGenerator<AdminEntry[]> {
  let left = limit
  const ask = (after: number) =>
    operations.listEntries({ ...query, after, limit: Math.min(ENTRY_PAGE_MAX, left) })
  const pages = readAhead(await ask(start), ({ eventos, next }) => {
    left -= eventos.length
    // A page may be shorter than asked for, or empty: with `next` more may follow.
    const place = next ?? eventos.at(-1)?.seq
    return place !== undefined && left > 0 ? ask(place) : undefined
  })
  for await (const { eventos } of pages) if (eventos.length > 0) yield eventos
}

/** The newest `count` entries that match, oldest first: the newest page, and backwards from there. docs/protocol.md API-31. */
export async function readLastEntries(
  operations: AdminOperations,
  query: EntryQuery,
  count: number,
): Promise<AdminEntry[]> {
  const pages: AdminEntry[][] = []
  const { before: end } = query
  for (let left = count, before = end; left > 0;) {
    const last = Math.min(ENTRY_PAGE_MAX, left)
    const request = { ...query, last, ...(before === undefined ? {} : { before }) }
    const { eventos, before: place } = await operations.listEntries(request)
    const [first] = eventos
    // A hub up to 0.4.0 does not know `before`, and answers the newest page again.
    if (before !== end && first !== undefined && (eventos.at(-1)?.seq ?? 0) >= (before ?? 0)) {
      return readAllForLast(operations, query, count)
    }
    before = place ?? first?.seq
    if (before === undefined) break
    pages.unshift(eventos)
    left -= eventos.length
  }
  return pages.flat()
}

async function readAllForLast(
  operations: AdminOperations,
  query: EntryQuery,
  count: number,
): Promise<AdminEntry[]> {
  let kept: AdminEntry[] = []
  for await (const page of readEntryPages(operations, query)) {
    kept.push(...page)
    if (kept.length > 2 * count) kept = kept.slice(-count)
  }
  return kept.slice(-count)
}
