// The newest entries that match, and older ones as somebody goes down, for a screen.

import { useEffect, useRef, useState } from 'preact/hooks'
import { ask } from '../../api/client.ts'
import { isForbidden } from '../../api/hub-error.ts'
import { keepFresh } from '../../api/keep-fresh.ts'
import { type EntryFilters, mayMatch, toRequest } from './entry-filters.ts'
import { createEntryList, type EntryList, type HeldEntries, NO_ENTRIES } from './entry-list.ts'

export interface Entries extends Omit<HeldEntries, 'newest' | 'before'> {
  readonly hasMore: boolean
  more(): void
  reload(): void
}

/** Between two counts that doorbells make. */
const COUNT_MS = 2000

export function useEntries(filters: EntryFilters): Entries {
  const request = toRequest(filters)
  const key = JSON.stringify(request)
  const [held, setHeld] = useState(NO_ENTRIES)
  const current = useRef<EntryList | undefined>(undefined)
  useEffect(() => {
    setHeld(NO_ENTRIES)
    const list = createEntryList({
      ask: (range) => ask('listEntries', { ...request, ...range }),
      keep: setHeld,
      isForbidden,
    })
    current.current = list
    list.reload()
    const stop = keepFresh(list, {
      concerns: (tipo) => mayMatch(filters, tipo),
      paceMs: COUNT_MS,
    })
    return () => {
      stop()
      list.stop()
    }
  }, [key])
  return {
    ...held,
    hasMore: held.before !== undefined,
    more: () => current.current?.more(),
    reload: () => current.current?.reload(),
  }
}
