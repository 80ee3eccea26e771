// A long list as far as it was asked for, page by page. Only the newest question's answer counts, and what is wanted meanwhile is not
// forgotten.

import { createNewestQuestion } from './newest-question.ts'

export interface PageOf<Row> {
  readonly rows: readonly Row[]
  readonly next: string | null
  /** How many match, where the hub knows it. */
  readonly total?: number | null | undefined
}

interface Page<Row> extends PageOf<Row> {
  readonly after: string | undefined
}

export interface Held<Row> {
  readonly pages: readonly Page<Row>[]
  readonly error: Error | undefined
  readonly isLoading: boolean
  /** How many rows would be new, or gone, if the list were asked for from its beginning. */
  readonly arrived: number
}

export interface PageList {
  /** From the beginning; an answer that is on its way no longer counts. */
  reload(): void
  more(): void
  /** Rows that are in view change where they stand. Answers whether they may be asked for. */
  refresh(): boolean
  /** Why there is no answer to the newest question. */
  error(): Error | undefined
  /** Rows of these numbers are on the screen. */
  look(first: number, last: number): void
  /** Nothing that comes now counts. */
  stop(): void
}

interface PageListOptions<Row> {
  /** What it begins with, until the first answer. */
  readonly known?: Held<Row>
  /** So many rows of it at most; a whole page without. */
  readonly askPage: (after: string | undefined, rowsMax?: number) => Promise<PageOf<Row>>
  readonly keep: (held: Held<Row>) => void
  /** After it, nothing of the list may be shown. */
  readonly isForbidden: (error: unknown) => boolean
}

export const NO_PAGES = { pages: [], error: undefined, isLoading: true, arrived: 0 } as const

export function createPageList<Row extends { readonly id: string }>({
  known = NO_PAGES,
  askPage,
  keep: show,
  isForbidden,
}: PageListOptions<Row>): PageList {
  let held: Held<Row> = known
  let inView = { first: 0, last: 0 }
  let isMoreWanted = false
  let isRefreshWanted = false

  const keep = (next: Held<Row>): void => {
    held = next
    show(next)
  }
  const question = createNewestQuestion({
    fail: (error) => {
      const kept = isForbidden(error) ? NO_PAGES : held
      keep({ ...kept, error: error as Error, isLoading: false })
    },
    done: () => {
      if (isRefreshWanted) {
        isRefreshWanted = false
        if (held.error === undefined) refresh()
      }
      if (!isMoreWanted || question.isAsking) return
      isMoreWanted = false
      if (held.error === undefined) more()
    },
  })
  const load = (after: string | undefined, before: readonly Page<Row>[]): void => {
    void question.take(async (isNewest) => {
      let from = after
      for (;;) {
        const page = await askPage(from)
        if (!isNewest()) return
        // A page may be empty where the hub looked at many rows and none matched. docs/protocol.md API-123.
        if (page.rows.length === 0 && page.next !== null) {
          from = page.next
          continue
        }
        const pages = [...before, { ...page, after: from }]
        return keep({ pages, error: undefined, isLoading: false, arrived: 0 })
      }
    })
  }
  const more = (): void => {
    if (question.isAsking) {
      isMoreWanted = true
      return
    }
    const next = held.pages.at(-1)?.next
    if (next !== undefined && next !== null) load(next, held.pages)
  }
  const reload = (): void => {
    isMoreWanted = false
    isRefreshWanted = false
    load(undefined, [])
  }
  const refresh = (): boolean => {
    if (isForbidden(held.error)) return false
    if (question.isAsking) {
      isRefreshWanted = true
      return true
    }
    // With nothing shown there is nothing that could move.
    if (held.pages.every(({ rows }) => rows.length === 0)) {
      reload()
      return true
    }
    void question.take(async (isNewest) => {
      for (const { at, rowsMax } of pagesInView(held.pages, inView)) {
        const page = held.pages[at]
        if (page === undefined) continue
        const fresh = await askPage(page.after, rowsMax)
        if (!isNewest()) return
        keep(withFresh(held, at, fresh, rowsMax))
      }
    })
    return true
  }
  return {
    reload,
    more,
    refresh,
    error: () => held.error,
    look: (first, last) => {
      inView = { first, last }
    },
    stop: question.stop,
  }
}

function pagesInView<Row>(
  pages: readonly Page<Row>[],
  { first, last }: { readonly first: number; readonly last: number },
): InView[] {
  const seen: InView[] = []
  let begin = 0
  for (const [at, { rows }] of pages.entries()) {
    const end = begin + rows.length
    // What comes behind the last row of a page is seen in a whole page alone.
    const rowsMax = last < end && last > begin ? last - begin : undefined
    if (begin <= last && end > first) seen.push({ at, rowsMax })
    begin = end
  }
  return seen.length === 0 && pages.length > 0 ? [{ at: 0, rowsMax: undefined }] : seen
}

interface InView {
  /** Which page. */
  readonly at: number
  /** So many of its rows, from its first one; all without. */
  readonly rowsMax: number | undefined
}

/** Rows that are known change in place; the others wait. Below the `rowsMax` that were asked for nobody looked. */
function withFresh<Row extends { readonly id: string }>(
  held: Held<Row>,
  at: number,
  fresh: PageOf<Row>,
  rowsMax = Infinity,
): Held<Row> {
  const page = held.pages[at]
  if (page === undefined) return held
  const freshById = new Map(fresh.rows.map((row) => [row.id, row]))
  const knownIds = new Set(held.pages.flatMap(({ rows }) => rows.map(({ id }) => id)))
  const rows = page.rows.map((row) => freshById.get(row.id) ?? row)
  const arrived = fresh.rows.filter(({ id }) => !knownIds.has(id)).length
  const asked = page.rows.slice(0, Math.max(rowsMax, fresh.rows.length))
  const gone = asked.filter(({ id }) => !freshById.has(id)).length
  const pages = held.pages.with(at, { ...page, rows, total: fresh.total })
  // A row that came pushes another one to the next page: that one is not gone.
  return { ...held, pages, error: undefined, arrived: Math.max(arrived, gone) }
}
