// A list that somebody looks at is asked for again when a doorbell rings, and every fifteen seconds where there is no stream or the hub
// was too busy. What rang while nobody looked is asked for afterwards.

import { mayPass } from './hub-error.ts'
import { onAct, POLL_MS, UNHURRIED_MS, waitToAsk } from './pace.ts'
import { isIn } from './session.ts'
import { onRing, streamState } from './stream.ts'

export interface FreshList {
  /** Answers whether it may be asked for. */
  refresh(): boolean
  /** Why there is no answer to the newest question. */
  error(): Error | undefined
}

export interface FreshOptions {
  /** Whether an entry of this type can change the list; any without it. */
  readonly concerns?: (tipo: string) => boolean
  /** Between two questions that doorbells make. */
  readonly paceMs?: number
}

/** Answers how to stop. */
export function keepFresh(
  list: FreshList,
  { concerns = () => true, paceMs = UNHURRIED_MS }: FreshOptions = {},
): () => void {
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
    timer = setTimeout(ask, waitToAsk(askedAtMs, paceMs, isSoon))
  }
  const stopRings = onRing((tipos) => {
    if (tipos === undefined || [...tipos].some(concerns)) refresh()
  })
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
