// Doorbells of the hub: something happened, of these types. Browsers open six connections to an origin, so one tab reads the stream, the
// one that holds the lock, and tells the others. docs/protocol.md DOR.

import { effect, signal } from '@preact/signals'
import type { ChangeMessage } from '../../protocol/admin/changes-route.ts'
import { reach, readError } from './client.ts'
import { createEventParser, type ServerEvent } from './event-stream.ts'
import { currentStretch, setStretch } from './pace.ts'
import { PRESENCE } from './presence.ts'
import { endedByHub, ownHalf, session, sessionHeaders } from './session.ts'

/** `live` while doorbells ring; `waiting` while screens ask by themselves every fifteen seconds. */
export const streamState = signal<'live' | 'waiting'>('waiting')

/** Undefined: anything may have changed. */
type Ring = (tipos: ReadonlySet<string> | undefined) => void

type TabMessage =
  | { readonly kind: 'ring'; readonly tipos: readonly string[] | undefined }
  | { readonly kind: 'live'; readonly stretch: number }

/** As in protocol/admin/changes-route.ts, whose schemas a page has no need to load. */
const CHANGES_PATH = '/v1/admin/changes'
const LOCK = 'cartorio.stream'
const AGAIN_MS = { first: 500, most: 5000 }
/** The hub writes something at least every fifteen seconds. */
const SILENCE_MS_MAX = 25_000
const LEADER_SAYS_EVERY_MS = 3000
const LEADER_SILENCE_MS_MAX = 8000

const listeners = new Set<Ring>()
const tabs = new BroadcastChannel(LOCK)

/** Answers how to stop listening. */
export function onRing(ring: Ring): () => void {
  listeners.add(ring)
  return () => {
    listeners.delete(ring)
  }
}

function ringHere(tipos: readonly string[] | undefined): void {
  const known = tipos === undefined ? undefined : new Set(tipos)
  for (const ring of listeners) ring(known)
}

function ringEverywhere(tipos: readonly string[] | undefined): void {
  ringHere(tipos)
  tell({ kind: 'ring', tipos })
}

function tell(message: TabMessage): void {
  tabs.postMessage(message)
}

/** Reads while somebody is signed in, in one tab at a time. */
export function followChanges(): void {
  let reading: { readonly half: string; readonly leaving: AbortController } | undefined
  effect(() => {
    const half = session.value.state === 'in' ? ownHalf() : undefined
    if (half === reading?.half) return
    reading?.leaving.abort()
    reading = half === undefined ? undefined : { half, leaving: new AbortController() }
    if (reading === undefined) streamState.value = 'waiting'
    else void lead(reading.half, reading.leaving.signal)
  })
  let leaderIsSilent: ReturnType<typeof setTimeout> | undefined
  tabs.addEventListener('message', ({ data }: MessageEvent<TabMessage>) => {
    if (data.kind === 'ring') return ringHere(data.tipos)
    setStretch(data.stretch)
    streamState.value = 'live'
    clearTimeout(leaderIsSilent)
    leaderIsSilent = setTimeout(() => (streamState.value = 'waiting'), LEADER_SILENCE_MS_MAX)
  })
}

/** The lock goes to the next tab when this one is closed. */
async function lead(half: string, leaving: AbortSignal): Promise<void> {
  await navigator.locks
    .request(LOCK, { signal: leaving }, () => readUntilSignedOut(half, leaving))
    .catch((error: unknown) => {
      if (!leaving.aborted) throw error
    })
}

async function readUntilSignedOut(half: string, leaving: AbortSignal): Promise<void> {
  let place: number | undefined
  let waitMs = AGAIN_MS.first
  const saying = setInterval(() => {
    if (streamState.value === 'live') tell({ kind: 'live', stretch: currentStretch() })
  }, LEADER_SAYS_EVERY_MS)
  while (!leaving.aborted) {
    try {
      place = await readOnce(half, leaving, place, () => (waitMs = AGAIN_MS.first))
    } catch {
      // Why it ended is told by what asks next; here only that nothing rings.
    }
    streamState.value = 'waiting'
    if (leaving.aborted) break
    await new Promise((resume) => setTimeout(resume, waitMs))
    waitMs = Math.min(AGAIN_MS.most, waitMs * 2)
  }
  clearInterval(saying)
}

/** Answers what has been told of, where the next stream goes on. */
async function readOnce(
  half: string,
  leaving: AbortSignal,
  after: number | undefined,
  onOpen: () => void,
): Promise<number | undefined> {
  const silence = new AbortController()
  const query = after === undefined ? '' : `?after=${after}`
  const response = await reach(`${CHANGES_PATH}${query}`, {
    method: 'GET',
    headers: sessionHeaders(half),
    signal: AbortSignal.any([leaving, silence.signal]),
    isEndless: true,
  })
  if (!response.ok) {
    const error = await readError(response)
    if (error.status === 401) endedByHub(half)
    throw error
  }
  let place = after
  const parse = createEventParser()
  const reader = response.body?.pipeThrough(new TextDecoderStream()).getReader()
  let timer = setTimeout(() => silence.abort(), SILENCE_MS_MAX)
  try {
    for (;;) {
      const { done, value = '' } = (await reader?.read()) ?? { done: true, value: '' }
      if (done) return place
      clearTimeout(timer)
      timer = setTimeout(() => silence.abort(), SILENCE_MS_MAX)
      const events = parse(value)
      if (events.length === 0) continue
      onOpen()
      place = take(half, events) ?? place
    }
  } finally {
    clearTimeout(timer)
  }
}

function take(half: string, events: readonly ServerEvent[]): number | undefined {
  let place: number | undefined
  let tipos: Set<string> | undefined = new Set()
  for (const { event, data } of events) {
    if (event === 'hello') setStretch(1)
    if (event === 'hello' || event === 'reset' || event === 'many') {
      // Between the last answers and this moment anything may have changed.
      tipos = undefined
      place = (JSON.parse(data) as ChangeMessage<'many'>).seq
      streamState.value = 'live'
      tell({ kind: 'live', stretch: currentStretch() })
    } else if (event === 'pace') {
      setStretch((JSON.parse(data) as ChangeMessage<'pace'>).stretch)
      tell({ kind: 'live', stretch: currentStretch() })
    } else if (event === 'entry') {
      const { seq, tipo } = JSON.parse(data) as ChangeMessage<'entry'>
      place = seq
      tipos?.add(tipo)
    } else if (event === 'presence') {
      tipos?.add(PRESENCE)
    } else if (event === 'end') {
      endIfSignedOut(half, JSON.parse(data) as ChangeMessage<'end'>)
    }
  }
  if (tipos === undefined || tipos.size > 0) ringEverywhere(tipos && [...tipos])
  return place
}

/** A hub that shuts down ends its streams too, and comes back. */
function endIfSignedOut(half: string, { error }: ChangeMessage<'end'>): void {
  if (error === 'session_ended' || error === 'admin_token_invalid') endedByHub(half)
}
