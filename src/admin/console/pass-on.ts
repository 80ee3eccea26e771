// A request that goes to the hub as it came, and the answer that goes back as it came: this process keeps no more of either than a few
// buffers, and a client that reads nothing is cut off. docs/protocol.md LOC-5, LOC-6.

import type { IncomingHttpHeaders, IncomingMessage, ServerResponse } from 'node:http'
import type { Clock } from '../../platform/clock.ts'
import type { HubLine } from '../doors/hub-line.ts'

/** Of the request: none that says who asks. */
const REQUEST_HEADERS = [
  'accept',
  'content-type',
  'content-length',
  'idempotency-key',
  'if-match',
  'last-event-id',
]
const RESPONSE_HEADERS = [
  'content-type',
  'content-length',
  'cache-control',
  'date',
  'etag',
  'retry-after',
  'x-request-id',
]
/** A hub that sends nothing for so long is gone; its stream of changes beats more often. */
const SILENCE_MS_MAX = 90_000
const FLEET_SILENCE_MS_MAX = 600_000
const STALL_MS_MAX = 30_000

export interface Passage {
  readonly request: IncomingMessage
  readonly response: ServerResponse
  readonly clock: Clock
  readonly isFleetWide: boolean
  /** The hub has an answer for the token that svc holds, not for the page. */
  readonly onRefusedToken: () => void
}

/** Resolves when there is nothing more to come; false where the hub gave no answer. */
export async function passOn(line: HubLine, passage: Passage): Promise<boolean> {
  const { request, response, clock, isFleetWide, onRefusedToken } = passage
  const { method = 'GET', url = '/' } = request
  const outgoing = line.begin({
    method,
    path: url,
    headers: pick(request.headers, REQUEST_HEADERS),
    timeout: isFleetWide ? FLEET_SILENCE_MS_MAX : SILENCE_MS_MAX,
  })
  outgoing.once('timeout', () => outgoing.destroy())
  response.once('close', () => outgoing.destroy())
  request.pipe(outgoing)
  const answer = await new Promise<IncomingMessage | undefined>((resolve) => {
    outgoing.once('response', resolve)
    outgoing.on('error', () => resolve(undefined))
  })
  if (answer === undefined) return false
  response.writeHead(answer.statusCode ?? 502, pick(answer.headers, RESPONSE_HEADERS))
  response.flushHeaders()
  await carry(answer, response, clock)
  // The page has the answer before its session ends.
  if (answer.statusCode === 401) onRefusedToken()
  return true
}

/** As fast as the client reads: then the hub is asked for no more, and cuts off by its own rule. */
async function carry(
  answer: IncomingMessage,
  response: ServerResponse,
  clock: Clock,
): Promise<void> {
  try {
    for await (const chunk of answer) {
      if (!response.write(chunk) && !(await drained(response, clock))) break
    }
    response.end()
  } catch {
    // The rest does not come, and the client sees that the answer is cut short.
    response.destroy()
  }
}

async function drained(response: ServerResponse, clock: Clock): Promise<boolean> {
  const settled = new AbortController()
  const flowing = new Promise<boolean>((resolve) => {
    response.once('drain', () => resolve(true))
    response.once('close', () => resolve(false))
  })
  const stalled = clock.sleep(STALL_MS_MAX, settled.signal).then(
    () => false,
    () => false,
  )
  const isDrained = await Promise.race([flowing, stalled])
  settled.abort()
  response.removeAllListeners('drain')
  if (!isDrained) response.destroy()
  return isDrained
}

function pick(headers: IncomingHttpHeaders, names: readonly string[]): Record<string, string> {
  const picked: Record<string, string> = {}
  for (const name of names) {
    const value = headers[name]
    if (typeof value === 'string') picked[name] = value
  }
  return picked
}
