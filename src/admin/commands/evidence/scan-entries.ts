// Entries of some types, or about one agent, wherever they are: by index in the vault, and one by one in the archive, of which no index
// knows (docs/protocol.md ARC-8).

import { ENTRY_PAGE_MAX } from '../../../protocol/admin/bounds.ts'
import type { AdminOperations } from '../../../protocol/admin/operations.ts'
import type { AdminEntry } from '../../../protocol/admin/views.ts'
import { type EntryQuery, readEntryPages } from '../evento/read-entries.ts'

type Operations = Pick<AdminOperations, 'listEntries'>

/** Of a segment that is not there. */
export interface UnreadEntries {
  readonly first: number
  readonly last: number
  readonly file: string
}

export interface Scanned {
  readonly query: EntryQuery
  /** The same in an entry. */
  readonly matches: (entry: AdminEntry) => boolean
}

export function ofTypes(tipos: readonly string[]): Scanned {
  return { query: { tipos: [...tipos] }, matches: (entry) => tipos.includes(entry.tipo_evento) }
}

export class EntryScan {
  /** By their first entry: what could not be looked at. */
  readonly unread: Map<number, UnreadEntries> = new Map()
  readonly #operations: Operations
  readonly #archivedUntil: number

  private constructor(operations: Operations, archivedUntil: number) {
    this.#operations = {
      listEntries: async (request) => {
        const page = await operations.listEntries(request)
        for (const range of page.missing ?? []) this.unread.set(range.first, range)
        return page
      },
    }
    this.#archivedUntil = archivedUntil
  }

  static async open(operations: Operations): Promise<EntryScan> {
    const filtered = { tipos: ['certificate_issued'], after: 0, limit: 1 }
    const { archived_until: archivedUntil = 0 } = await operations.listEntries(filtered)
    return new EntryScan(operations, archivedUntil)
  }

  /** Pages of entries after the one and before the other, oldest first. */
  async *forwards(
    { query, matches }: Scanned,
    after: number,
    before: number,
  ): AsyncGenerator<AdminEntry[]> {
    const end = Math.min(before, this.#archivedUntil + 1)
    if (after + 1 < end) {
      for await (const page of readEntryPages(this.#operations, { before: end }, { after })) {
        yield page.filter(matches)
      }
    }
    const from = { after: Math.max(after, this.#archivedUntil) }
    yield* readEntryPages(this.#operations, { ...query, before }, from)
  }

  /** Pages of entries before this one, the newest page first; each page itself is oldest first. */
  async *backwards({ query, matches }: Scanned, before: number): AsyncGenerator<AdminEntry[]> {
    yield* this.#pagesBackwards({ ...query, after: this.#archivedUntil }, before)
    const end = Math.min(before, this.#archivedUntil + 1)
    for await (const page of this.#pagesBackwards({}, end)) yield page.filter(matches)
  }

  async *#pagesBackwards(
    query: EntryQuery & { readonly after?: number },
    end: number,
  ): AsyncGenerator<AdminEntry[]> {
    for (let before = end; before > 1;) {
      const page = { ...query, before, last: ENTRY_PAGE_MAX }
      const { eventos, before: place } = await this.#operations.listEntries(page)
      const next = place ?? eventos[0]?.seq
      if (next === undefined) return
      yield eventos
      before = next
    }
  }
}
