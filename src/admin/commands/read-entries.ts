import type { AdminOperations } from '../../protocol/admin/operations.ts'
import type { AdminEntry } from '../../protocol/admin/views.ts'
import { ENTRY_PAGE_MAX } from '../../protocol/admin/bounds.ts'

export interface EntryQuery {
  readonly tipo?: string
  readonly agente?: string
  readonly since?: string
}

/** All entries that match, oldest first, page by page; those after `afterSeq` only. */
export async function* readEntryPages(
  operations: AdminOperations,
  query: EntryQuery,
  afterSeq = 0,
): AsyncGenerator<AdminEntry[]> {
  let after = afterSeq
  for (;;) {
    const { eventos } = await operations.listEntries({ ...query, after, limit: ENTRY_PAGE_MAX })
    const last = eventos.at(-1)
    if (last === undefined) return
    yield eventos
    // A page may be shorter than asked for: only an empty one says that there is no more.
    after = last.seq
  }
}

/** The newest `count` entries that match, oldest first. */
export async function readLastEntries(
  operations: AdminOperations,
  query: EntryQuery,
  count: number,
): Promise<AdminEntry[]> {
  if (count <= ENTRY_PAGE_MAX)
    return (await operations.listEntries({ ...query, last: count })).eventos
  let kept: AdminEntry[] = []
  for await (const page of readEntryPages(operations, query)) {
    kept.push(...page)
    if (kept.length > 2 * count) kept = kept.slice(-count)
  }
  return kept.slice(-count)
}
