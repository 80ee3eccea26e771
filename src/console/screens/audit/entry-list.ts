// The newest entries that match, and older ones page by page. An entry never changes, so to be fresh only those are counted that nobody
// has counted yet: they wait for a click. What came and could not be counted at once is counted afterwards.

import { createNewestQuestion } from '../../api/newest-question.ts'
import type { AdminReplies } from '../../api/operations.ts'

type EntryPage = AdminReplies['listEntries']
export type Entry = EntryPage['eventos'][number]

export interface HeldEntries {
  /** Newest first. */
  readonly rows: readonly Entry[]
  readonly isLoading: boolean
  readonly error: Error | undefined
  /** How many came since, as far as they were counted. */
  readonly arrived: number
  /** Routine in the range that is shown; undefined with filters. */
  readonly hidden: number | undefined
  readonly missing: number
  /** The newest one that was looked at, shown or counted. */
  readonly newest: number
  /** Where what is older begins; undefined at the oldest. */
  readonly before: number | undefined
}

export interface EntryList {
  /** From the newest one; an answer that is on its way no longer counts. */
  reload(): void
  more(): void
  /** Counts what came. Answers whether it may be asked for. */
  refresh(): boolean
  /** Why there is no answer to the newest question. */
  error(): Error | undefined
  /** Nothing that comes now counts. */
  stop(): void
}

interface EntryListOptions {
  /** The last so many: below `before`, above `after`, or of all. */
  readonly ask: (range: {
    readonly last: number
    readonly before?: number
    readonly after?: number
  }) => Promise<EntryPage>
  readonly keep: (held: HeldEntries) => void
  /** After it, nothing of the list may be shown. */
  readonly isForbidden: (error: unknown) => boolean
}

export const PAGE_ENTRIES = 200
export const ARRIVED_MAX = 50

export const NO_ENTRIES: HeldEntries = {
  rows: [],
  isLoading: true,
  error: undefined,
  arrived: 0,
  hidden: undefined,
  missing: 0,
  newest: 0,
  before: undefined,
}

export function createEntryList({ ask, keep: show, isForbidden }: EntryListOptions): EntryList {
  let held = NO_ENTRIES
  let isMoreWanted = false
  /** Something may have come that nobody counted. */
  let isStale = false

  const keep = (next: HeldEntries): void => {
    held = next
    show(next)
  }
  const question = createNewestQuestion({
    fail: (error) => {
      const kept = isForbidden(error) ? NO_ENTRIES : held
      keep({ ...kept, error: error as Error, isLoading: false })
    },
    done: () => {
      if (held.error !== undefined) isMoreWanted = false
      else if (isMoreWanted) more()
      else if (isStale) refresh()
    },
  })
  const load = (before: number | undefined): void => {
    void question.take(async (isNewest) => {
      let from = before
      for (;;) {
        const page = await ask({
          last: PAGE_ENTRIES,
          ...(from !== undefined && { before: from }),
        })
        if (!isNewest()) return
        keep(withPage(from === undefined ? NO_ENTRIES : held, page))
        // The hub looked at as many as it does for one page, and none of them matches.
        if (page.eventos.length > 0 || held.before === undefined) return
        from = held.before
      }
    })
  }
  const more = (): void => {
    isMoreWanted = question.isAsking
    if (!isMoreWanted && held.before !== undefined) load(held.before)
  }
  const reload = (): void => {
    isMoreWanted = false
    isStale = false
    load(undefined)
  }
  const count = async (isNewest: () => boolean): Promise<void> => {
    isStale = false
    try {
      const { eventos } = await ask({ last: ARRIVED_MAX, after: held.newest })
      if (!isNewest()) return
      const newest = eventos.at(-1)?.seq ?? held.newest
      keep({ ...held, newest, arrived: held.arrived + eventos.length, error: undefined })
    } catch (error) {
      isStale = true
      throw error
    }
  }
  const refresh = (): boolean => {
    if (isForbidden(held.error)) return false
    isStale = true
    if (question.isAsking) return true
    // With nothing shown there is nothing that could move.
    if (held.rows.length === 0) reload()
    else if (held.arrived < ARRIVED_MAX || held.error !== undefined) void question.take(count)
    else isStale = false
    return true
  }
  return {
    reload,
    more,
    refresh,
    error: () => held.error,
    stop: question.stop,
  }
}

function withPage(
  held: HeldEntries,
  { eventos, next, before, hidden, missing = [] }: EntryPage,
): HeldEntries {
  const rows = [...held.rows, ...eventos.toReversed()]
  const lost = missing.reduce((sum, { first, last }) => sum + last - first + 1, 0)
  const place = next === null ? undefined : (before ?? eventos[0]?.seq)
  return {
    rows,
    before: place,
    isLoading: place !== undefined && eventos.length === 0,
    error: undefined,
    // What is older takes nothing away from what came.
    arrived: held.arrived,
    newest: Math.max(held.newest, rows[0]?.seq ?? 0),
    hidden: hidden === undefined ? undefined : (held.hidden ?? 0) + hidden,
    missing: held.missing + lost,
  }
}
