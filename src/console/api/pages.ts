// A long list, 200 rows at a time. Rows that are in view are asked for again when a doorbell rings, at most every five seconds, and
// change where they stand; what would move them waits until somebody asks for it.

import { useEffect, useRef, useState } from 'preact/hooks'
import { isForbidden } from './hub-error.ts'
import { keepFresh } from './keep-fresh.ts'
import { createPageList, type Held, NO_PAGES, type PageList, type PageOf } from './page-list.ts'
import { createMemory, dropOld, showOld } from './remembered.ts'

export const PAGE_ROWS = 200
/** Lists that nobody looks at any more, for the way back. */
const KEPT_MAX = 10

const memory = createMemory<Held<unknown>>(KEPT_MAX)

export interface Pages<Row> {
  readonly rows: readonly Row[]
  /** How many there are at the hub; undefined while it does not say, and more follow. */
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

/** `key` names the list among all of the console: with another one it begins again, with what is remembered of that. */
export function usePages<Row extends { readonly id: string }>(
  key: string,
  askPage: (after: string | undefined, limit: number) => Promise<PageOf<Row>>,
): Pages<Row> {
  const [held, setHeld] = useState(() => recall<Row>(key).value)
  const current = useRef<PageList | undefined>(undefined)
  useEffect(() => {
    const { value: known, atMs } = recall<Row>(key)
    setHeld(known)
    let newest = known
    const list = createPageList<Row>({
      known,
      askPage: (after, limit = PAGE_ROWS) => askPage(after, limit),
      keep: (next) => {
        newest = next
        if (next.error === undefined) dropOld(list)
        setHeld(next)
      },
      isForbidden,
    })
    showOld(list, atMs)
    current.current = list
    list.reload()
    const stop = keepFresh(list)
    return () => {
      stop()
      list.stop()
      memory.keep(key, { value: newest, atMs: dropOld(list) })
    }
  }, [key])
  const last = held.pages.at(-1)
  const rows = held.pages.flatMap((page) => page.rows)
  const hasMore = last !== undefined && last.next !== null
  return {
    rows,
    // With all of them here there is nothing to ask.
    total: held.pages[0]?.total ?? (hasMore ? undefined : rows.length),
    hasMore,
    isLoading: held.isLoading,
    error: held.error,
    arrived: held.arrived,
    more: () => current.current?.more(),
    reload: () => current.current?.reload(),
    look: (firstRow, lastRow) => current.current?.look(firstRow, lastRow),
  }
}

function recall<Row>(key: string): {
  readonly value: Held<Row>
  readonly atMs?: number | undefined
} {
  const known = memory.recall(key)
  if (known === undefined || known.value.pages.length === 0) return { value: NO_PAGES }
  const { pages } = known.value as Held<Row>
  return { value: { ...NO_PAGES, pages }, atMs: known.atMs }
}
