// What the hub was asked, kept while somebody looks at it: asked again when a doorbell rings, at most once a second, and every
// fifteen seconds where there is no stream, or the hub was too busy. Answers that time alone changes are asked more often. An answer that
// failed leaves the last good one on the screen, with its age.

import { type ReadonlySignal, signal, type Signal } from '@preact/signals'
import { useEffect, useState } from 'preact/hooks'
import { ask } from './client.ts'
import { hubNowMs } from './clock.ts'
import type { AdminReplies, AdminRequest, ReadName } from './operations.ts'
import { isForbidden, mayPass } from './hub-error.ts'
import { AGAIN_MS_MIN, onAct, POLL_MS, waitToAsk, withTimeMs } from './pace.ts'
import { dropOld, showOld } from './remembered.ts'
import { isAllowed, isIn, onForget } from './session.ts'
import { onRing, streamState } from './stream.ts'

export interface Shown<Data> {
  /** The last good answer. */
  readonly data: Data | undefined
  /** When the hub gave it, by its own clock. */
  readonly atMs: number | undefined
  /** Why the last request failed; undefined after a good one. */
  readonly error: Error | undefined
}

interface Query {
  readonly shown: Signal<Shown<unknown>>
  readonly ask: () => Promise<unknown>
  readonly ageMsOf: (data: unknown) => number
  readonly concerns: (tipo: string) => boolean
  readonly goesWithTime: boolean
  readonly paceMs: number
  watchers: number
  /** When somebody looked at it last, and it was known. */
  leftAtMs: number | undefined
  /** A request is under way; another one follows it when something happened meanwhile. */
  isAsking: boolean
  /** Until it is asked. */
  timer: ReturnType<typeof setTimeout> | undefined
  isStale: boolean
  askedAtMs: number
  /** When something happened last that can change the answer. */
  rungAtMs: number
}

/** How often is looked whether a question that goes with time is due. */
const TICK_MS = 1000
/** What nobody looks at any more is kept for the way back, up to so many answers. */
const KEPT_MAX = 40

const queries = new Map<string, Query>()

export interface QueryOptions<Name extends ReadName> {
  /** The types of entries that can change the answer; any without it. */
  readonly tipos?: readonly string[]
  /** In place of `tipos`, where they are no short list. */
  readonly concerns?: (tipo: string) => boolean
  /** Its answer changes while nothing happens: a certificate ends, a host becomes late, and no bell rings. */
  readonly goesWithTime?: boolean
  /** Of an answer that the hub keeps for all who ask: how old it was when the hub gave it. */
  readonly ageMsOf?: (data: AdminReplies[Name]) => number
  /** Between two questions that doorbells make; a second without it. */
  readonly paceMs?: number
}

/** Undefined as a request asks nothing, and so does what the role or the hosts of the token forbid. */
export function useQuery<Name extends ReadName>(
  name: Name,
  request: AdminRequest<Name> | undefined,
  options: QueryOptions<Name> = {},
): ReadonlySignal<Shown<AdminReplies[Name]>> {
  const key =
    request === undefined || !isAllowed(name) ? undefined : `${name} ${JSON.stringify(request)}`
  const [nothing] = useState(() => signal<Shown<unknown>>(NOTHING))
  const query =
    key === undefined || request === undefined
      ? undefined
      : findQuery(key, () => ask(name, request), options as QueryOptions<ReadName>)
  useEffect(() => (query === undefined ? undefined : watch(query)), [query])
  return (query?.shown ?? nothing) as ReadonlySignal<Shown<AdminReplies[Name]>>
}

const NOTHING: Shown<unknown> = { data: undefined, atMs: undefined, error: undefined }

function findQuery(
  key: string,
  askHub: () => Promise<unknown>,
  {
    tipos,
    concerns = (tipo) => tipos?.includes(tipo) ?? true,
    goesWithTime = false,
    ageMsOf = () => 0,
    paceMs = AGAIN_MS_MIN,
  }: QueryOptions<ReadName>,
): Query {
  const known = queries.get(key)
  if (known !== undefined) return known
  const query: Query = {
    shown: signal(NOTHING),
    ask: askHub,
    ageMsOf: ageMsOf as Query['ageMsOf'],
    concerns,
    goesWithTime,
    paceMs,
    watchers: 0,
    leftAtMs: undefined,
    isAsking: false,
    timer: undefined,
    isStale: true,
    askedAtMs: 0,
    rungAtMs: 0,
  }
  queries.set(key, query)
  forgetOldest()
  return query
}

function forgetOldest(): void {
  for (const [key, { watchers }] of queries) {
    if (queries.size <= KEPT_MAX) return
    if (watchers === 0) queries.delete(key)
  }
}

function watch(query: Query): () => void {
  query.watchers += 1
  if (query.watchers === 1 && query.shown.peek().data !== undefined) showOld(query, query.leftAtMs)
  refresh(query, { isSoon: true })
  return () => {
    query.watchers -= 1
    if (query.watchers === 0) query.leftAtMs = dropOld(query)
  }
}

/** Somebody acted here: everything that is on the screen is asked again. */
onAct(() => {
  for (const query of queries.values()) ring(query, { isSoon: true })
})

/** Nothing of the one who was in is left for the next one, but for what is on a screen that stays: it is asked again. */
onForget((isScreenKept) => {
  for (const [key, query] of queries) {
    if (isScreenKept && query.watchers > 0) query.isStale = true
    else queries.delete(key)
  }
})

function ring(query: Query, pace: Pace = {}): void {
  query.rungAtMs = Date.now()
  refresh(query, pace)
}

interface Pace {
  /** Somebody waits for it. */
  readonly isSoon?: boolean
}

function refresh(query: Query, { isSoon = false }: Pace = {}): void {
  query.isStale = true
  if (query.watchers === 0 || query.isAsking || document.visibilityState === 'hidden') return
  if (!isIn() || isForbidden(query.shown.peek().error)) return
  if (query.timer !== undefined && !isSoon) return
  clearTimeout(query.timer)
  const begin = (): void => {
    query.timer = undefined
    void answer(query)
  }
  query.timer = setTimeout(begin, waitToAsk(query.askedAtMs, query.paceMs, isSoon))
}

async function answer(query: Query): Promise<void> {
  // While it waited, somebody may have signed out: what is stale is asked when a stream begins again.
  if (!isIn()) return
  query.isAsking = true
  query.isStale = false
  query.askedAtMs = Date.now()
  try {
    const data = await query.ask()
    query.shown.value = { data, atMs: hubNowMs(), error: undefined }
    dropOld(query)
    // What the hub gathered before something happened does not know of it, and no other bell rings.
    if (query.askedAtMs - query.ageMsOf(data) < query.rungAtMs) query.isStale = true
  } catch (error) {
    // What the hub no longer shows to this person goes; of an ended session it stays, below the dialog, with its forms.
    query.shown.value = isForbidden(error)
      ? { ...NOTHING, error: error as Error }
      : { ...query.shown.value, error: error as Error }
  }
  query.isAsking = false
  if (query.isStale) refresh(query)
}

onRing((tipos) => {
  for (const query of queries.values()) {
    const isConcerned = tipos === undefined || [...tipos].some(query.concerns)
    if (isConcerned) ring(query)
  }
})

setInterval(() => {
  for (const query of queries.values()) {
    if (streamState.value !== 'live' || mayPass(query.shown.peek().error)) refresh(query)
  }
}, POLL_MS)

setInterval(() => {
  for (const query of queries.values()) {
    if (query.goesWithTime && Date.now() - query.askedAtMs >= withTimeMs()) {
      refresh(query, { isSoon: true })
    }
  }
}, TICK_MS)

document.addEventListener('visibilitychange', () => {
  for (const query of queries.values()) {
    if (query.isStale || query.goesWithTime || streamState.value !== 'live') {
      refresh(query, { isSoon: true })
    }
  }
})
