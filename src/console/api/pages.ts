// A long list, 200 rows at a time. Rows that are in view are asked for again when a doorbell rings, and change where they stand; what
// would move them waits until somebody asks for it.

import { useEffect, useRef, useState } from 'preact/hooks'
import { isOut } from './session.ts'
import { onRing } from './stream.ts'

export const PAGE_ROWS = 200

export interface PageOf<Row> {
  readonly rows: readonly Row[]
  readonly next: string | null
  /** How many match, where the hub knows it. */
  readonly total?: number | null | undefined
}

export interface Pages<Row> {
  readonly rows: readonly Row[]
  readonly total: number | undefined
  readonly hasMore: boolean
  readonly isLoading: boolean
  readonly error: Error | undefined
  /** How many rows would be new, or gone, if the list were asked for from its beginning. */
  readonly arrived: number
  more(): void
  reload(): void
  /** Rows of these numbers are on the screen. */
  look(first: number, last: number): void
}

interface Page<Row> extends PageOf<Row> {
  readonly after: string | undefined
}

interface Held<Row> {
  readonly pages: readonly Page<Row>[]
  readonly error: Error | undefined
  readonly isLoading: boolean
  readonly arrived: number
}

const NONE = { pages: [], error: undefined, isLoading: true, arrived: 0 } as const
const AGAIN_MS_MIN = 1000

/** `key` names the list: with another one it begins again. */
export function usePages<Row extends { readonly id: string }>(
  key: string,
  askPage: (after: string | undefined) => Promise<PageOf<Row>>,
): Pages<Row> {
  const [held, setHeld] = useState<Held<Row>>(NONE)
  const current = useRef({
    key,
    held,
    inView: { first: 0, last: 0 },
    isAsking: false,
    askedAtMs: 0,
  })
  const keep = (next: Held<Row>): void => {
    current.current.held = next
    setHeld(next)
  }
  const load = async (after: string | undefined, before: readonly Page<Row>[]): Promise<void> => {
    const state = current.current
    state.isAsking = true
    try {
      const page = await askPage(after)
      if (state.key === key) {
        keep({
          pages: [...before, { ...page, after }],
          error: undefined,
          isLoading: false,
          arrived: 0,
        })
      }
    } catch (error) {
      if (state.key === key) keep({ ...state.held, error: error as Error, isLoading: false })
    }
    state.isAsking = false
  }
  const refresh = async (): Promise<void> => {
    const state = current.current
    if (state.isAsking || document.visibilityState === 'hidden' || isOut()) return
    // The hub was away when the list was asked for.
    if (state.held.pages.length === 0) return load(undefined, [])
    state.isAsking = true
    state.askedAtMs = Date.now()
    try {
      for (const at of pagesInView(state.held.pages, state.inView)) {
        const page = state.held.pages[at]
        if (page === undefined) continue
        const fresh = await askPage(page.after)
        if (state.key === key) keep(withFresh(state.held, at, fresh))
      }
    } catch (error) {
      if (state.key === key) keep({ ...state.held, error: error as Error })
    }
    state.isAsking = false
  }
  useEffect(() => {
    const state = current.current
    state.key = key
    keep(NONE)
    void load(undefined, [])
    let timer: ReturnType<typeof setTimeout> | undefined
    const stop = onRing(() => {
      if (timer !== undefined) return
      const waitMs = Math.max(0, state.askedAtMs + AGAIN_MS_MIN - Date.now())
      timer = setTimeout(() => {
        timer = undefined
        void refresh()
      }, waitMs)
    })
    return () => {
      stop()
      clearTimeout(timer)
    }
  }, [key])
  const last = held.pages.at(-1)
  return {
    rows: held.pages.flatMap(({ rows }) => rows),
    total: held.pages[0]?.total ?? undefined,
    hasMore: last !== undefined && last.next !== null,
    isLoading: held.isLoading,
    error: held.error,
    arrived: held.arrived,
    more: () => {
      const { held: known, isAsking } = current.current
      const next = known.pages.at(-1)?.next
      if (isAsking || next === undefined || next === null) return
      void load(next, known.pages)
    },
    reload: () => void load(undefined, []),
    look: (firstRow, lastRow) => {
      current.current.inView = { first: firstRow, last: lastRow }
    },
  }
}

function pagesInView<Row>(
  pages: readonly Page<Row>[],
  { first, last }: { readonly first: number; readonly last: number },
): number[] {
  const seen: number[] = []
  let begin = 0
  for (const [at, { rows }] of pages.entries()) {
    const end = begin + rows.length
    if (begin <= last && end > first) seen.push(at)
    begin = end
  }
  return seen.length === 0 && pages.length > 0 ? [0] : seen
}

/** Rows that are known change in place; the others wait. */
function withFresh<Row extends { readonly id: string }>(
  held: Held<Row>,
  at: number,
  fresh: PageOf<Row>,
): Held<Row> {
  const page = held.pages[at]
  if (page === undefined) return held
  const freshById = new Map(fresh.rows.map((row) => [row.id, row]))
  const knownIds = new Set(held.pages.flatMap(({ rows }) => rows.map(({ id }) => id)))
  const rows = page.rows.map((row) => freshById.get(row.id) ?? row)
  const arrived = fresh.rows.filter(({ id }) => !knownIds.has(id)).length
  const gone = page.rows.filter(({ id }) => !freshById.has(id)).length
  const pages = held.pages.with(at, { ...page, rows, total: fresh.total })
  // A row that came pushes another one to the next page: that one is not gone.
  return { ...held, pages, error: undefined, arrived: Math.max(arrived, gone) }
}
