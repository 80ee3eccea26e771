// The streams of what has changed, which consoles hold: each entry of the log rings once on each of them, and comments show that both sides
// are there. Before each message the hub authenticates the caller again, as it would for a request. docs/protocol.md DOR.

import { setImmediate as nextTurn } from 'node:timers/promises'
import type { ChangeEvent, ChangeMessage, Doorbell } from '../../protocol/admin/changes-route.ts'
import type { AgentId } from '../../protocol/identifiers.ts'
import type { WireErrorCode } from '../../protocol/errors.ts'
import type { Clock } from '../../platform/clock.ts'
import { describeError } from '../../platform/errors.ts'
import type { Logger } from '../../platform/logger.ts'
import type { ReadDoorbells } from '../service/admin/read-doorbells.ts'
import type { StreamConnection } from './agent-streams.ts'
import { describeRefusal } from './admin-routes.ts'
import type { ChangeBell } from './change-bell.ts'
import { CallerCounts } from './connections/caller-counts.ts'
import { type Caller, callerOf } from './connections/caller-key.ts'
import { KeyCounts } from './connections/key-counts.ts'

export interface NewChangeStream {
  readonly connection: StreamConnection
  /** From where it came; undefined on the socket. */
  readonly address: string | undefined
  /** Whose streams are counted together. */
  readonly holder: string
  /** What the caller has been told of already; undefined when it knows nothing yet. */
  readonly after: number | undefined
  readonly authenticate: AuthenticateViewer
}

/** The caller as it is now, or why the hub would refuse its request. */
export type AuthenticateViewer = () => Promise<Viewer | WireErrorCode>

export interface Viewer {
  /** The selector of a token that is for some hosts alone. */
  readonly only: string | null
}

export interface ChangeStreams {
  /** Whether there is room for one more of them. */
  hasRoom(stream: Pick<NewChangeStream, 'address' | 'holder'>): boolean
  hold(stream: NewChangeStream): void
  readonly count: number
  /** Heartbeats, until the signal aborts. */
  run(signal: AbortSignal): Promise<void>
  /** Ends all streams, and every stream that comes later. */
  close(): void
}

export interface ChangeStreamsOptions {
  readonly clock: Clock
  readonly log: Logger
  readonly bell: ChangeBell
  readonly doorbells: ReadDoorbells
}

interface HeldStream extends NewChangeStream {
  readonly caller: Caller
  /** The last entry that was told; undefined before the stream was welcomed, which tells what there is then. */
  told: number | undefined
  writtenAtBeat: number
  /** That its reader knows of. */
  stretch: number
}

export const CHANGE_STREAMS_MAX = 200
/** Beside them the owner of the vault has some that no token can take. */
export const CHANGE_STREAMS_ON_SOCKET = 20
export const CHANGE_STREAMS_PER_ADDRESS = 100
export const CHANGE_STREAMS_PER_HOLDER = 20
/** So many in one go, and no oftener: each message to all costs what as many looks at who may listen cost. */
const TOLD_AT_ONCE = 20
const PAUSE_MS = 1000
/** To a caller that was away. */
const RESUMED_MAX = 100
const BUFFERED_BYTES_MAX = 64 * 1024
const BEAT_MS = 1000
const HEARTBEAT_BEATS = 15
/** Of so many tabs what they ask is no burden to agents; more of them are to ask little more. */
const STREAMS_OF_A_PACE = 10

export function createChangeStreams(options: ChangeStreamsOptions): ChangeStreams {
  const { clock, log, bell, doorbells } = options
  const streams = new Set<HeldStream>()
  const byHolder = new KeyCounts()
  const byAddress = new CallerCounts()
  /** Since the last messages; more than can be told one by one are not kept. */
  const present = new Set<AgentId>()
  let onSocket = 0
  let isDue = false
  let isTelling = false
  let isClosed = false
  let beat = 0

  const drop = (stream: HeldStream, reason: string, last?: string): void => {
    if (!streams.delete(stream)) return
    byHolder.remove(stream.holder)
    byAddress.remove(stream.caller)
    if (stream.address === undefined) onSocket -= 1
    log.debug({ remote: stream.address, reason }, 'Stream of changes ended')
    stream.connection.end(last)
  }
  const refuse = (stream: HeldStream, refusal: WireErrorCode): void =>
    drop(stream, refusal, message('end', describeRefusal(refusal)))
  const write = (stream: HeldStream, text: string): void => {
    if (stream.connection.bufferedBytes > BUFFERED_BYTES_MAX) return drop(stream, 'not read')
    stream.writtenAtBeat = beat
    stream.connection.write(text)
  }
  /** How long it is to wait before it asks for what the next message rings for, when that is not as before. */
  const paceFor = (stream: HeldStream): string => {
    const stretch = Math.ceil(streams.size / STREAMS_OF_A_PACE)
    if (stretch === stream.stretch) return ''
    stream.stretch = stretch
    return message('pace', { stretch })
  }
  /** Undefined when the stream is over. */
  const check = async (stream: HeldStream): Promise<Viewer | undefined> => {
    const viewer = await stream.authenticate()
    if (typeof viewer === 'string') {
      refuse(stream, viewer)
      return undefined
    }
    return streams.has(stream) ? viewer : undefined
  }
  /** A store that does not answer ends a stream as it would refuse a request. */
  const attempt = (stream: HeldStream, work: () => Promise<void>): Promise<void> =>
    work().catch((error: unknown) => {
      log.warn({ reason: describeError(error) }, 'Stream of changes cut')
      refuse(stream, 'unavailable')
    })
  /** Who may still listen is looked up for each: agents come between. */
  const forEach = async (
    some: Iterable<HeldStream>,
    work: (stream: HeldStream) => Promise<void>,
  ): Promise<void> => {
    for (const stream of some) {
      await attempt(stream, () => work(stream))
      await nextTurn()
    }
  }
  const welcome = async (stream: HeldStream): Promise<void> => {
    const { after } = stream
    const end = await doorbells.findEnd()
    const isAhead = after !== undefined && after > end
    const start = after === undefined || isAhead ? end : after
    const news = await readNews(doorbells, start, end, RESUMED_MAX)
    const viewer = await check(stream)
    if (viewer === undefined) return
    const hello = message('hello', { seq: end, time: clock.now().toISOString() }, start)
    const reset = isAhead ? message('reset', { seq: end, asked: after }, end) : ''
    const text = await textFor(viewer, news)
    write(stream, `${hello}${paceFor(stream)}${reset}${text}`)
    stream.told = end
  }
  const textFor = async ({ only }: Viewer, { text, bells }: News): Promise<string> => {
    if (only === null || bells === undefined) return text
    const agents = bells.map(({ agente_id: id }) => id).filter((id) => id !== undefined)
    const within = await doorbells.findWithin(agents, only)
    return textOf(bells.filter(({ agente_id: id }) => id !== undefined && within.has(id)))
  }
  const presenceFor = async ({ only }: Viewer, agents: readonly AgentId[]): Promise<string> => {
    if (only === null || agents.length > TOLD_AT_ONCE) return presenceText(agents)
    const within = await doorbells.findWithin(agents, only)
    return presenceText(agents.filter((id) => within.has(id)))
  }
  const tellAll = async (): Promise<void> => {
    const end = await doorbells.findEnd()
    const agents = [...present]
    present.clear()
    /** Nearly all have been told the same, and get the same text. */
    const newsAfter = new Map<number, Promise<News>>()
    await forEach(streams, async (stream) => {
      const { told } = stream
      if (told === undefined || (told >= end && agents.length === 0)) return
      const viewer = await check(stream)
      if (viewer === undefined) return
      const news = newsAfter.get(told) ?? readNews(doorbells, told, end, TOLD_AT_ONCE)
      newsAfter.set(told, news)
      const text = (await textFor(viewer, await news)) + (await presenceFor(viewer, agents))
      if (!streams.has(stream)) return
      stream.told = Math.max(told, end)
      if (text !== '') write(stream, `${paceFor(stream)}${text}`)
    })
  }
  const ring = async (): Promise<void> => {
    isDue = true
    if (isTelling || streams.size === 0) return
    isTelling = true
    while (isDue && streams.size > 0) {
      isDue = false
      // Who rang is about to answer a request.
      await nextTurn()
      await tellAll().catch((error: unknown) =>
        log.warn({ reason: describeError(error) }, 'Changes not told'),
      )
      await clock.sleep(PAUSE_MS)
    }
    isTelling = false
  }
  bell.listen({
    onEntries: () => void ring(),
    onPresence: (agentId) => {
      if (streams.size === 0) return
      if (present.size <= TOLD_AT_ONCE) present.add(agentId)
      void ring()
    },
  })
  return {
    hasRoom: ({ address, holder }) => {
      if (address === undefined) return onSocket < CHANGE_STREAMS_ON_SOCKET
      return (
        streams.size - onSocket < CHANGE_STREAMS_MAX &&
        byHolder.of(holder) < CHANGE_STREAMS_PER_HOLDER &&
        !byAddress.has(callerOf(address), CHANGE_STREAMS_PER_ADDRESS)
      )
    },
    hold: (opened) => {
      const { connection, holder, address } = opened
      const caller = callerOf(address)
      const known = { told: undefined, writtenAtBeat: beat, stretch: 1 }
      const stream: HeldStream = { ...opened, caller, ...known }
      streams.add(stream)
      byHolder.add(holder)
      byAddress.add(caller)
      if (address === undefined) onSocket += 1
      connection.onClose(() => drop(stream, 'closed'))
      if (isClosed) return refuse(stream, 'unavailable')
      // What was committed meanwhile.
      void attempt(stream, () => welcome(stream)).then(ring)
    },
    get count() {
      return streams.size
    },
    run: async (signal) => {
      while (!signal.aborted) {
        await clock.sleep(BEAT_MS, signal).catch(() => undefined)
        if (signal.aborted) return
        beat += 1
        const silent = [...streams].filter(
          ({ writtenAtBeat }) => beat - writtenAtBeat >= HEARTBEAT_BEATS,
        )
        await forEach(silent, async (stream) => {
          if ((await check(stream)) !== undefined) write(stream, heartbeat(clock))
        })
      }
    },
    close: () => {
      isClosed = true
      for (const stream of streams) refuse(stream, 'unavailable')
    },
  }
}

/** Nothing is lost with them, as with an agent's: the port does not wait for them as for requests. */
export async function endingStreams(streams: ChangeStreams, closing: Promise<void>): Promise<void> {
  streams.close()
  await closing
}

interface News {
  /** As everybody is told them who may know of all hosts. */
  readonly text: string
  /** Undefined where one message stands for all of them. */
  readonly bells: readonly Doorbell[] | undefined
}

async function readNews(
  doorbells: ReadDoorbells,
  after: number,
  end: number,
  max: number,
): Promise<News> {
  if (end <= after) return { text: '', bells: [] }
  if (end - after > max)
    return { text: message('many', { after, seq: end }, end), bells: undefined }
  const bells = await doorbells.list(after, end - after)
  return { text: textOf(bells), bells }
}

function textOf(bells: readonly Doorbell[]): string {
  return bells.map((bell) => message('entry', bell, bell.seq)).join('')
}

function presenceText(agents: readonly AgentId[]): string {
  if (agents.length > TOLD_AT_ONCE) return message('presence', { agente_id: null })
  return agents.map((agentId) => message('presence', { agente_id: agentId })).join('')
}

function message<Event extends ChangeEvent>(
  event: Event,
  data: ChangeMessage<Event>,
  id?: number,
): string {
  const place = id === undefined ? '' : `id: ${id}\n`
  return `${place}event: ${event}\ndata: ${JSON.stringify(data)}\n\n`
}

function heartbeat(clock: Clock): string {
  return `: ${clock.now().toISOString()}\n\n`
}
