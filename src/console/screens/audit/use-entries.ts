// The newest entries that match, and older ones as somebody goes down. An entry never changes, so when a doorbell rings for one that may
// match, only those are counted that nobody has counted yet: they wait for a click.

import { useEffect, useRef, useState } from 'preact/hooks'
import { ask } from '../../api/client.ts'
import type { AdminReplies } from '../../api/operations.ts'
import { isForbidden } from '../../api/hub-error.ts'
import { waitAfterRing } from '../../api/pace.ts'
import { isIn } from '../../api/session.ts'
import { onRing } from '../../api/stream.ts'
import { type EntryFilters, mayMatch, toRequest } from './entry-filters.ts'

export type Entry = AdminReplies['listEntries']['eventos'][number]

export interface Entries {
  /** Newest first. */
  readonly rows: readonly Entry[]
  readonly hasMore: boolean
  readonly isLoading: boolean
  readonly error: Error | undefined
  /** How many came since, as far as they were counted. */
  readonly arrived: number
  /** Routine in the range that is shown; undefined with filters. */
  readonly hidden: number | undefined
  readonly missing: number
  more(): void
  reload(): void
}

interface Held extends Omit<Entries, 'more' | 'reload'> {
  /** The newest one that was looked at, shown or counted. */
  readonly newest: number
  /** Where what is older begins; undefined at the oldest. */
  readonly before: number | undefined
}

export const PAGE_ENTRIES = 200
export const ARRIVED_MAX = 50
/** Between a doorbell and the count of what it rang for. */
const COUNT_MS = 2000

const NONE: Held = {
  rows: [],
  hasMore: false,
  isLoading: true,
  error: undefined,
  arrived: 0,
  hidden: undefined,
  missing: 0,
  newest: 0,
  before: undefined,
}

export function useEntries(filters: EntryFilters): Entries {
  const request = toRequest(filters)
  const key = JSON.stringify(request)
  const [held, setHeld] = useState<Held>(NONE)
  const current = useRef({ held, isAsking: false, turn: 0 })
  const keep = (next: Held): void => {
    current.current.held = next
    setHeld(next)
  }
  const load = async (before: number | undefined): Promise<void> => {
    const state = current.current
    state.isAsking = true
    state.turn += 1
    const mine = state.turn
    try {
      const page = await ask('listEntries', {
        ...request,
        last: PAGE_ENTRIES,
        ...(before !== undefined && { before }),
      })
      // Of two questions on their way, the newer one counts: a page of the older one is lost or doubled otherwise.
      if (state.turn === mine) {
        const next = withPage(before === undefined ? NONE : state.held, page)
        keep(next)
        // The hub looked at as many as it does for one page, and none of them matches.
        if (page.eventos.length === 0 && next.before !== undefined) return await load(next.before)
      }
    } catch (error) {
      if (state.turn === mine) {
        const kept = isForbidden(error) ? NONE : state.held
        keep({ ...kept, error: error as Error, isLoading: false })
      }
    }
    if (state.turn === mine) state.isAsking = false
  }
  const count = async (): Promise<void> => {
    const state = current.current
    if (state.isAsking || document.visibilityState === 'hidden' || !isIn()) return
    const { newest, rows, arrived, error: before } = state.held
    if (isForbidden(before) || arrived >= ARRIVED_MAX) return
    const { turn } = state
    // With nothing shown there is nothing that could move.
    if (rows.length === 0) return load(undefined)
    try {
      const { eventos } = await ask('listEntries', { ...request, after: newest, last: ARRIVED_MAX })
      if (state.turn === turn) {
        const last = eventos.at(-1)?.seq ?? newest
        keep({ ...state.held, newest: last, arrived: arrived + eventos.length, error: undefined })
      }
    } catch (error) {
      if (state.turn === turn) keep({ ...state.held, error: error as Error })
    }
  }
  useEffect(() => {
    keep(NONE)
    void load(undefined)
    let timer: ReturnType<typeof setTimeout> | undefined
    const stop = onRing((tipos) => {
      if (tipos !== undefined && ![...tipos].some((tipo) => mayMatch(filters, tipo))) return
      timer ??= setTimeout(() => {
        timer = undefined
        void count()
      }, waitAfterRing(COUNT_MS))
    })
    return () => {
      stop()
      clearTimeout(timer)
      current.current.turn += 1
    }
  }, [key])
  return {
    ...held,
    more: () => {
      const { held: known, isAsking } = current.current
      if (isAsking || known.before === undefined) return
      void load(known.before)
    },
    reload: () => void load(undefined),
  }
}

function withPage(
  held: Held,
  { eventos, next, before, hidden, missing = [] }: AdminReplies['listEntries'],
): Held {
  const rows = [...held.rows, ...eventos.toReversed()]
  const lost = missing.reduce((sum, { first, last }) => sum + last - first + 1, 0)
  const place = next === null ? undefined : (before ?? eventos[0]?.seq)
  return {
    rows,
    before: place,
    hasMore: place !== undefined,
    isLoading: place !== undefined && eventos.length === 0,
    error: undefined,
    arrived: 0,
    hidden: hidden === undefined ? undefined : (held.hidden ?? 0) + hidden,
    missing: held.missing + lost,
    newest: rows[0]?.seq ?? 0,
  }
}
