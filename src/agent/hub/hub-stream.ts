// One stream of the hub, on a connection of its own: it ends when the hub ends it, floods it, or is silent.

import { describeConnectionFailure } from '../../platform/connection-failure.ts'
import { ROUTES } from '../../protocol/routes.ts'
import { type HubClientOptions, openIdentityTls } from './client.ts'
import {
  type ChoosyConnections,
  createHttpConnections,
  type HttpConnections,
} from './http-connections.ts'
import {
  type HubRefusal,
  HubUnreachableError,
  readCheckpoint,
  readRefusal,
  REQUEST_TIMEOUT_MS,
  routeUrl,
} from './request.ts'
import { userAgentOf } from './user-agent.ts'
import { EventStreamParser, type StreamMessage } from '../../platform/parse-event-stream.ts'

export interface HubStreamOptions extends HubClientOptions {
  /** Of the last message that was got, so that the hub tells what came since. */
  readonly lastEventId: string | undefined
  readonly signal: AbortSignal
  /** Nothing at all for so long, not even a heartbeat: the hub is gone. */
  readonly silenceMs?: number
}

export type HubStreamReply =
  /** The messages end without an error when the hub ends the stream. */
  { readonly ok: true; readonly messages: AsyncIterable<StreamMessage> } | HubRefusal

const SILENCE_MS = 60_000
/** A stream has little to say; more than this within the window is a flood. */
const WINDOW_MS = 10_000
const WINDOW_BYTES_MAX = 64 * 1024

/** Throws HubUnreachableError, as its messages do. */
export async function openHubStream(options: HubStreamOptions): Promise<HubStreamReply> {
  const { baseUrl, lastEventId, silenceMs = SILENCE_MS } = options
  const url = routeUrl(baseUrl, ROUTES.stream.path)
  const connections = createHttpConnections(
    () => openIdentityTls(options),
    undefined,
    options.avoided,
  )
  try {
    const reply = await connections.send({
      url,
      method: 'GET',
      signal: options.signal,
      silenceMs: { headers: REQUEST_TIMEOUT_MS, body: silenceMs },
      headers: {
        'user-agent': userAgentOf(options),
        accept: 'text/event-stream',
        ...(lastEventId === undefined ? {} : { 'last-event-id': lastEventId }),
      },
    })
    const checkpoint = readCheckpoint(reply.headers)
    if (checkpoint !== undefined) requireGood(checkpoint, reply.address, { options, connections })
    if (reply.statusCode !== 200) {
      const refusal = await readRefusal(reply)
      void connections.destroy()
      return refusal
    }
    requireEventStream(reply.headers['content-type'])
    return { ok: true, messages: readMessages(reply.body, connections, url) }
  } catch (error) {
    void connections.destroy()
    throw error instanceof HubUnreachableError ? error : unreachable(url, error)
  }
}

/** Throws HubUnreachableError for the stream of a hub that was replaced. */
function requireGood(
  checkpoint: string,
  address: string | undefined,
  { options, connections }: { options: HubStreamOptions; connections: ChoosyConnections },
): void {
  try {
    options.noteCheckpoint?.(checkpoint)
  } catch (error) {
    connections.leave(address)
    throw error
  }
}

async function* readMessages(
  body: AsyncIterable<Uint8Array>,
  connections: HttpConnections,
  url: URL,
): AsyncGenerator<StreamMessage, void> {
  const parser = new EventStreamParser()
  const decoder = new TextDecoder()
  let window = { startedMs: performance.now(), bytes: 0 }
  try {
    for await (const chunk of body) {
      const nowMs = performance.now()
      if (nowMs - window.startedMs > WINDOW_MS) window = { startedMs: nowMs, bytes: 0 }
      window.bytes += chunk.length
      if (window.bytes > WINDOW_BYTES_MAX) throw new Error('the hub floods its stream')
      yield* parser.push(decoder.decode(chunk, { stream: true }))
    }
  } catch (error) {
    throw unreachable(url, error)
  } finally {
    void connections.destroy()
  }
}

function requireEventStream(contentType: string | string[] | undefined): void {
  if (typeof contentType === 'string' && /^text\/event-stream\b/i.test(contentType)) return
  throw new Error('the answer is not the hub’s stream')
}

function unreachable(url: URL, error: unknown): HubUnreachableError {
  return new HubUnreachableError(
    `no stream from ${url.origin}: ${describeConnectionFailure(error)}`,
  )
}
