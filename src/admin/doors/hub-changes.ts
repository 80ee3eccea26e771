// The stream of changes of a hub, whatever the way to it: it rings, and who hears it asks for what it shows. docs/protocol.md DOR.

import { once } from 'node:events'
import type { IncomingMessage } from 'node:http'
import { SvcError } from '../../platform/errors.ts'
import { EventStreamParser, type StreamMessage } from '../../platform/parse-event-stream.ts'
import { CHANGES_ROUTE } from '../../protocol/admin/changes-route.ts'
import type { AdminErrorBody } from '../../protocol/admin/errors.ts'
import {
  type BeginRequest,
  type HubReply,
  parseReply,
  readReply,
  traceHeaders,
} from './hub-calls.ts'

export type Ring =
  /** There are entries up to this one; `tipo` is of a single one. */
  | { readonly kind: 'entries'; readonly seq: number; readonly tipo: string | undefined }
  /** The log ends there, before the entry that was asked for: it is another log, or that of a backup. */
  | { readonly kind: 'reset'; readonly seq: number }

/** Rings of what comes after this entry, until the signal or the hub ends them, which throws. Undefined: the hub has no such stream. */
export type OpenChanges = (
  after: number,
  signal: AbortSignal,
) => Promise<AsyncGenerator<Ring, void> | undefined>

/** What differs from one way to a hub to the other. */
export interface ChangesDoor {
  readonly begin: BeginRequest
  readonly refuse: (reply: HubReply) => SvcError
  readonly explain: (error: unknown) => SvcError
}

/** The hub writes something every fifteen seconds: it is gone after three times as long. */
const SILENCE_MS_MAX = 45_000
const REFUSAL_BYTES_MAX = 64 * 1024

export async function openChangeStream(
  { begin, refuse, explain }: ChangesDoor,
  after: number,
  signal: AbortSignal,
): Promise<AsyncGenerator<Ring, void> | undefined> {
  const request = begin({
    method: CHANGES_ROUTE.method,
    path: `${CHANGES_ROUTE.path}?after=${after}`,
    agent: false,
    timeout: SILENCE_MS_MAX,
    signal,
    headers: { ...traceHeaders(), accept: 'text/event-stream' },
  })
  request.once('timeout', () => request.destroy(new Error('the hub was silent for too long')))
  request.end()
  try {
    const [response] = (await once(request, 'response')) as [IncomingMessage]
    // What happens to the request from here on is read from its response.
    request.on('error', () => undefined)
    const { statusCode: status = 0, headers } = response
    if (status === 200) return readRings(response, { refuse, explain })
    const text = await readReply(response, REFUSAL_BYTES_MAX)
    if (status === 404) return undefined
    throw refuse({ status, headers, text })
  } catch (error) {
    request.destroy()
    throw error instanceof SvcError ? error : explain(error)
  }
}

async function* readRings(
  response: IncomingMessage,
  { refuse, explain }: Pick<ChangesDoor, 'refuse' | 'explain'>,
): AsyncGenerator<Ring, void> {
  const parser = new EventStreamParser()
  response.setEncoding('utf8')
  try {
    for await (const piece of response) {
      for (const message of parser.push(piece as string)) {
        const data = parseReply(message.data) as Readonly<Record<string, unknown>>
        if (message.event === 'end') throw refuse(toReply(response, message.data, data))
        const ring = toRing(message, data)
        if (ring !== undefined) yield ring
      }
    }
    throw new Error('the hub ended the stream of changes')
  } catch (error) {
    throw error instanceof SvcError ? error : explain(error)
  } finally {
    response.destroy()
  }
}

/** As a request would have been refused. */
function toReply(
  { headers }: IncomingMessage,
  text: string,
  { error }: Partial<AdminErrorBody>,
): HubReply {
  return { status: error === 'unavailable' ? 503 : 401, headers, text }
}

/** Undefined for what is no news of the log: `hello`, `presence`, and what a later hub may add. */
function toRing(
  { event }: StreamMessage,
  { seq, tipo }: Readonly<Record<string, unknown>>,
): Ring | undefined {
  if (event !== 'entry' && event !== 'many' && event !== 'reset') return undefined
  if (typeof seq !== 'number' || !Number.isSafeInteger(seq)) {
    throw new SvcError('reply_invalid', 'the hub’s stream of changes has no numbers of entries')
  }
  if (event === 'reset') return { kind: 'reset', seq }
  return { kind: 'entries', seq, tipo: typeof tipo === 'string' ? tipo : undefined }
}
