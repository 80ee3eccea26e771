// A long list, 200 rows at a time. Rows that are in view are asked for again when a doorbell rings, at most every five seconds, and every
// fifteen seconds where there is no stream, and change where they stand; what would move them waits until somebody asks for it.

import { useEffect, useRef, useState } from 'preact/hooks'
import { isForbidden, mayPass } from './hub-error.ts'
import { createPageList, type Held, NO_PAGES, type PageList, type PageOf } from './page-list.ts'
import { onAct, UNHURRIED_MS, waitToAsk } from './pace.ts'
import { isIn } from './session.ts'
import { onRing, streamState } from './stream.ts'

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

const POLL_MS = 15_000

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

/** Answers how to stop. What rang while nobody looked is asked for afterwards. */
function keepFresh(list: PageList): () => void {
  let isStale = false
  let askedAtMs = Date.now()
  let timer: ReturnType<typeof setTimeout> | undefined
  const refresh = ({ isSoon = false } = {}): void => {
    isStale = true
    if (document.visibilityState === 'hidden' || !isIn()) return
    if (timer !== undefined && !isSoon) return
    clearTimeout(timer)
    const ask = (): void => {
      timer = undefined
      if (document.visibilityState === 'hidden' || !isIn()) return
      askedAtMs = Date.now()
      isStale = !list.refresh()
    }
    timer = setTimeout(ask, waitToAsk(askedAtMs, UNHURRIED_MS, isSoon))
  }
  const stopRings = onRing(() => refresh())
  const stopActs = onAct(() => refresh({ isSoon: true }))
  const isOld = (): boolean => isStale || streamState.value !== 'live' || mayPass(list.error())
  const poll = setInterval(() => {
    if (isOld()) refresh()
  }, POLL_MS)
  const onVisible = (): void => {
    if (isOld()) refresh({ isSoon: true })
  }
  document.addEventListener('visibilitychange', onVisible)
  return () => {
    stopRings()
    stopActs()
    clearInterval(poll)
    clearTimeout(timer)
    document.removeEventListener('visibilitychange', onVisible)
  }
}
