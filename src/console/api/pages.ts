// A long list, 200 rows at a time. Rows that are in view are asked for again when a doorbell rings, at most every five seconds, and
// change where they stand; what would move them waits until somebody asks for it.

import { useEffect, useRef, useState } from 'preact/hooks'
import { isForbidden } from './hub-error.ts'
import { keepFresh } from './keep-fresh.ts'
import { createPageList, type Held, NO_PAGES, type PageList, type PageOf } from './page-list.ts'

export const PAGE_ROWS = 200

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

/** `key` names the list: with another one it begins again. */
export function usePages<Row extends { readonly id: string }>(
  key: string,
  askPage: (after: string | undefined, limit: number) => Promise<PageOf<Row>>,
): Pages<Row> {
  const [held, setHeld] = useState<Held<Row>>(NO_PAGES)
  const current = useRef<PageList | undefined>(undefined)
  useEffect(() => {
    setHeld(NO_PAGES)
    const list = createPageList<Row>({
      askPage: (after, limit = PAGE_ROWS) => askPage(after, limit),
      keep: setHeld,
      isForbidden,
    })
    current.current = list
    list.reload()
    const stop = keepFresh(list)
    return () => {
      stop()
      list.stop()
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
