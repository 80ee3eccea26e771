// The streams that agents hold, one for each: the hub sends news at once, and now and then a comment shows that both sides are
// there. Before each write the hub authenticates the agent of the stream again, as it would for a request.
// docs/protocol.md PSH.

import { setImmediate as nextTurn } from 'node:timers/promises'
import type { Clock } from '../../platform/clock.ts'
import { describeError } from '../../platform/errors.ts'
import type { Logger } from '../../platform/logger.ts'
import type { AgentId } from '../../protocol/identifiers.ts'
import type { CheckpointMessage } from '../../protocol/schemas.ts'
import type { Agent } from '../domain/agent.ts'
import type { AgentNotifier } from '../domain/agent-notifier.ts'
import type { AgentNews, ReadAgentNews } from '../service/agent/read-agent-news.ts'

/** What a stream writes to. */
export interface StreamConnection {
  write(text: string): void
  /** What the agent, or the system, has not taken yet. */
  readonly bufferedBytes: number
  /** `last` comes before the end, unless what came before was not read. */
  end(last?: string): void
  onClose(listener: () => void): void
}

export interface NewStream {
  readonly agentId: AgentId
  readonly connection: StreamConnection
  /** From where it came. */
  readonly address?: string | undefined
  /** As it was when it came. */
  readonly agent?: Agent
  /** The id of the last message that the agent got, if it got one. */
  readonly lastEventId: string | undefined
  /** The agent as it is now; undefined when the hub would refuse a request of that agent. */
  readonly authenticate: () => Promise<Agent | undefined>
}

export interface AgentStreams extends AgentNotifier {
  /** Ends the agent's earlier stream, and tells what there is to tell. */
  hold(stream: NewStream): void
  readonly count: number
  /** Heartbeats, until the signal aborts. */
  run(signal: AbortSignal): Promise<void>
  /** Ends all streams, and every stream that comes later. */
  close(): void
}

export interface AgentStreamsOptions {
  readonly clock: Clock
  readonly log: Logger
  readonly readNews: ReadAgentNews
  /** The newest checkpoint of the log as the header has it; undefined before the first one. */
  readonly checkpoint?: (() => string | undefined) | undefined
  /** An agent holds its stream, or no longer does. */
  readonly onPresence?: ((agentId: AgentId) => void) | undefined
  /** A stream ends another one of its agent that was held. */
  readonly onSwap?:
    | ((agent: Agent, swap: { readonly from: string; readonly to: string }) => void)
    | undefined
}

interface HeldStream extends NewStream {
  /** What the agent knows. */
  told: { manifest: string; rotation: string | undefined }
  /** The beat at which it was last written to, and shown a checkpoint. */
  writtenAt: number
  shownAt: number
  readonly since: Date
}

const BEAT_MS = 1000
const HEARTBEAT_BEATS = 25
/** A poll shows one too. A hundred thousand agents then get fifty kilobytes a second, in the place of heartbeats. */
const CHECKPOINT_BEATS = 600
const BUFFERED_BYTES_MAX = 16 * 1024
const HEARTBEAT = ':\n\n'

export function createAgentStreams(options: AgentStreamsOptions): AgentStreams {
  const { clock, log, readNews } = options
  /** The streams that were written to longest ago come first. */
  const streams = new Map<AgentId, HeldStream>()
  /** Agents that may have something new, in the order in which they are looked at. */
  const announced = new Set<AgentId>()
  let isTelling = false
  let isClosed = false
  // Counted, not read from a clock that may be set.
  let beat = 0

  const isHeld = (stream: HeldStream): boolean => streams.get(stream.agentId) === stream
  const drop = (stream: HeldStream, reason: string): void => {
    if (!isHeld(stream)) return
    streams.delete(stream.agentId)
    options.onPresence?.(stream.agentId)
    log.debug({ agent_id: stream.agentId, reason }, 'Stream ended')
    stream.connection.end()
  }
  const write = (stream: HeldStream, text: string): void => {
    const { agentId, connection } = stream
    if (connection.bufferedBytes > BUFFERED_BYTES_MAX) return drop(stream, 'not read')
    streams.delete(agentId)
    streams.set(agentId, stream)
    stream.writtenAt = beat
    connection.write(text)
  }
  /** The agent, if the stream may still be written to. */
  const check = async (stream: HeldStream): Promise<Agent | undefined> => {
    const agent = await stream.authenticate()
    if (agent?.id === stream.agentId) return isHeld(stream) ? agent : undefined
    drop(stream, 'refused')
    return undefined
  }
  const tell = async (stream: HeldStream): Promise<void> => {
    const agent = await check(stream)
    const news = agent && (await readNews(agent))
    if (news === undefined || !isHeld(stream)) return
    for (const text of messagesFor(stream, news)) write(stream, text)
  }
  /** A store that does not answer ends a stream as it would refuse a request. */
  const attempt = async (
    stream: HeldStream,
    work: (stream: HeldStream) => Promise<unknown>,
  ): Promise<void> => {
    await work(stream).catch((error: unknown) => drop(stream, describeError(error)))
    // A thousand streams must not keep all other callers waiting.
    await nextTurn()
  }
  const tellAnnounced = async (): Promise<void> => {
    if (isTelling) return
    isTelling = true
    for (const agentId of announced) {
      announced.delete(agentId)
      const stream = streams.get(agentId)
      if (stream !== undefined) await attempt(stream, tell)
    }
    isTelling = false
  }
  /** In the place of a heartbeat, for which the agent was authenticated. docs/protocol.md CHN-38. */
  const checkpointDue = (stream: HeldStream): string | undefined => {
    if (beat - stream.shownAt < CHECKPOINT_BEATS) return undefined
    const checkpoint = options.checkpoint?.()
    if (checkpoint === undefined) return undefined
    stream.shownAt = beat
    return `event: checkpoint\ndata: ${JSON.stringify({ checkpoint } satisfies CheckpointMessage)}\n\n`
  }
  const beatOnce = async (): Promise<void> => {
    beat += 1
    for (const stream of streams.values()) {
      if (beat - stream.writtenAt < HEARTBEAT_BEATS) break
      await attempt(stream, async () => {
        if ((await check(stream)) !== undefined) write(stream, checkpointDue(stream) ?? HEARTBEAT)
      })
    }
  }
  const announce = (agentIds: Iterable<AgentId>): void => {
    for (const agentId of agentIds) if (streams.has(agentId)) announced.add(agentId)
    void tellAnnounced()
  }
  return {
    hold: (opened) => {
      const { agentId, connection, lastEventId } = opened
      if (isClosed) return connection.end()
      const earlier = streams.get(agentId)
      if (earlier !== undefined) {
        drop(earlier, 'replaced')
        const { address: from } = earlier
        const { address: to, agent } = opened
        if (from !== undefined && to !== undefined && agent !== undefined) {
          options.onSwap?.(agent, { from, to })
        }
      }
      const told = { manifest: manifestOf(lastEventId), rotation: undefined }
      const at = { writtenAt: beat, shownAt: beat, since: clock.now() }
      const stream: HeldStream = { ...opened, told, ...at }
      streams.set(agentId, stream)
      if (earlier === undefined) options.onPresence?.(agentId)
      connection.onClose(() => {
        if (!isHeld(stream)) return
        streams.delete(agentId)
        options.onPresence?.(agentId)
      })
      connection.write(HEARTBEAT)
      announce([agentId])
    },
    announce,
    announceAll: () => announce([...streams.keys()]),
    isOnline: (agentId) => streams.has(agentId),
    onlineSince: (agentId) => streams.get(agentId)?.since,
    listOnline: (limit) => (streams.size > limit ? undefined : [...streams.keys()]),
    get count() {
      return streams.size
    },
    run: async (signal) => {
      while (!signal.aborted) {
        await clock.sleep(BEAT_MS, signal).catch(() => undefined)
        if (!signal.aborted) await beatOnce()
      }
    },
    close: () => {
      isClosed = true
      for (const stream of streams.values()) drop(stream, 'the hub stops')
    },
  }
}

/** The messages that are due, each with what the agent knows when it has read it. */
function* messagesFor(stream: HeldStream, news: AgentNews): Generator<string> {
  const { told } = stream
  if (told.manifest !== news.manifest) {
    told.manifest = news.manifest
    yield message('manifest', told)
  }
  if (news.rotation !== undefined && told.rotation !== news.rotation) {
    told.rotation = news.rotation
    yield message('rotate', told)
  }
}

function message(event: string, { manifest, rotation = '0' }: HeldStream['told']): string {
  return `id: ${manifest}.${rotation}\nevent: ${event}\ndata: {}\n\n`
}

function manifestOf(eventId: string | undefined): string {
  return eventId?.slice(0, Math.max(0, eventId.lastIndexOf('.'))) ?? ''
}
