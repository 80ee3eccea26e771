// One request to the hub: bounded in time and size, with an outcome of three kinds: an answer, a refusal (a value),
// or no usable answer at all (HubUnreachableError).

import { Check } from 'typebox/value'
import {
  classifyConnectionFailure,
  type ConnectionFailure,
  describeConnectionFailure,
} from '../../platform/connection-failure.ts'
import { SvcError } from '../../platform/errors.ts'
import { parseJson } from '../../platform/parse-json.ts'
import {
  BUNDLE_EPOCH_HEADER,
  BUNDLE_NUMBER_HEADER,
  LOG_CHECKPOINT_HEADER,
} from '../../protocol/routes.ts'
import { LIMITS } from '../../protocol/limits.ts'
import { ErrorReplyBody } from '../../protocol/schemas.ts'
import type {
  ChoosyConnections,
  HttpConnections,
  HttpHeaders,
  HttpReply,
} from './http-connections.ts'
import type { BundleNumber } from './wire.ts'

export const REQUEST_TIMEOUT_MS = 15_000
const RETRY_AFTER_MS_MAX = 3_600_000

export interface HubRefusal {
  readonly ok: false
  readonly status: number
  /** The hub's error code; `unknown` when the body has none. */
  readonly code: string
  readonly retryAfterMs?: number
}

export type HubOutcome<Value> =
  | { readonly ok: true; readonly value: Value; readonly hubTime: Date | undefined }
  | HubRefusal

/** No usable answer: no connection, a reply cut short, a timeout, or a reply that is not the protocol's. */
export class HubUnreachableError extends SvcError {
  override name = 'HubUnreachableError'
  /** Undefined when there was an answer, which is not the protocol's. */
  readonly failure: ConnectionFailure | undefined
  constructor(
    message: string,
    options: { failure?: ConnectionFailure | undefined; hint?: string } = {},
  ) {
    super('hub_unreachable', message, options)
    this.failure = options.failure
  }
}

export interface HubRequest<Value> {
  readonly connections: HttpConnections & Partial<Pick<ChoosyConnections, 'leave'>>
  readonly url: URL
  readonly method: 'GET' | 'POST' | 'PUT'
  readonly userAgent: string
  readonly headers?: Readonly<Record<string, string>>
  readonly body?: unknown
  /** Told what every reply, of whatever kind, says about the hub's clock. */
  readonly noteHubTime?: ((hubNow: Date) => void) | undefined
  /**
   * Told of the checkpoint of the hub’s log that a reply shows, a signed note; undefined of a good one that shows none. Throws
   * HubUnreachableError for one of a hub that was replaced: then nothing of the reply counts.
   */
  readonly noteCheckpoint?: ((note: string | undefined) => void) | undefined
  decode(this: void, body: unknown): Value | undefined
}

/** A request whose answer is not JSON; a refusal still is. */
export interface BytesRequest<Value> extends Omit<HubRequest<Value>, 'decode'> {
  readonly accept: string
  readonly bytesMax: number
  readonly timeoutMs: number
  decode(this: void, bytes: Buffer, headers: HttpHeaders): Value | undefined
}

export interface HubReply<Value> {
  readonly outcome:
    | HubOutcome<Value>
    | { readonly notModified: true; readonly hubTime: Date | undefined }
  readonly etag: string | undefined
  /** Undefined when the reply does not say one. */
  readonly bundleNumber: BundleNumber | undefined
}

export function sendToHub<Value>({ decode, ...rest }: HubRequest<Value>): Promise<HubReply<Value>> {
  return sendForBytes({
    ...rest,
    accept: 'application/json',
    bytesMax: LIMITS.replyBytesMax,
    timeoutMs: REQUEST_TIMEOUT_MS,
    decode: (bytes) => decode(parseJson(bytes.toString())),
  })
}

export async function sendForBytes<Value>(options: BytesRequest<Value>): Promise<HubReply<Value>> {
  const { status, headers, address, bytes } = await exchange(options)
  const checkpoint = readCheckpoint(headers)
  if (checkpoint !== undefined || status === 200 || status === 304) {
    try {
      options.noteCheckpoint?.(checkpoint)
    } catch (error) {
      options.connections.leave?.(address)
      throw error
    }
  }
  const hubTime = parseHttpDate(headers['date'])
  if (hubTime !== undefined) options.noteHubTime?.(hubTime)
  const etag = single(headers['etag'])
  const bundleNumber = parseBundleNumber(headers)
  const about = { etag, bundleNumber }
  if (status === 304) return { outcome: { notModified: true, hubTime }, ...about }
  if (status !== 200) {
    return { outcome: refusalOf(status, parseJson(bytes.toString()), headers, hubTime), ...about }
  }
  const value = options.decode(bytes, headers)
  if (value === undefined) {
    throw new HubUnreachableError(
      `${options.url.href} answered something that is not the protocol's`,
      {
        hint: 'is this the URL of the hub?',
      },
    )
  }
  return { outcome: { ok: true, value, hubTime }, ...about }
}

/** The newest one that the hub has signed, as a note. */
export function readCheckpoint(headers: HttpHeaders): string | undefined {
  const header = single(headers[LOG_CHECKPOINT_HEADER])
  return header && Buffer.from(header, 'base64').toString()
}

/** A reply that is no success, with as much of its body as a refusal may have. */
export async function readRefusal({ statusCode, headers, body }: HttpReply): Promise<HubRefusal> {
  const hubTime = parseHttpDate(headers['date'])
  return refusalOf(
    statusCode,
    parseJson((await readBounded(body, LIMITS.replyBytesMax)).toString()),
    headers,
    hubTime,
  )
}

/** The URL of a route, below whatever path a proxy may have put the hub. */
export function routeUrl(base: URL, path: string): URL {
  return new URL(`${base.pathname.replace(/\/$/, '')}${path}`, base)
}

async function exchange(
  options: Omit<BytesRequest<unknown>, 'decode'>,
): Promise<{ status: number; headers: HttpHeaders; address: string | undefined; bytes: Buffer }> {
  try {
    const reply = await options.connections.send({
      url: options.url,
      method: options.method,
      headers: {
        'user-agent': options.userAgent,
        accept: options.accept,
        ...(options.body === undefined ? {} : { 'content-type': 'application/json' }),
        ...options.headers,
      },
      body: options.body === undefined ? undefined : JSON.stringify(options.body),
      signal: AbortSignal.timeout(options.timeoutMs),
    })
    const bytes = await readBounded(reply.body, options.bytesMax)
    const { statusCode: status, headers, address } = reply
    return { status, headers, address, bytes }
  } catch (error) {
    // The reason is in the message, which is all that a person or a log gets to see.
    throw new HubUnreachableError(
      `no answer from ${options.url.origin}: ${describeConnectionFailure(error)}`,
      { failure: classifyConnectionFailure(error) },
    )
  }
}

async function readBounded(body: AsyncIterable<Uint8Array>, bytesMax: number): Promise<Buffer> {
  const chunks: Uint8Array[] = []
  let size = 0
  for await (const chunk of body) {
    size += chunk.length
    if (size > bytesMax) throw new Error(`the reply is over ${bytesMax} bytes`)
    chunks.push(chunk)
  }
  return Buffer.concat(chunks)
}

function refusalOf(
  status: number,
  body: unknown,
  headers: HttpHeaders,
  hubTime: Date | undefined,
): HubRefusal {
  const code = Check(ErrorReplyBody, body) ? body.error.slice(0, 64) : 'unknown'
  const retryAfterMs = parseRetryAfterMs(single(headers['retry-after']), hubTime)
  return { ok: false, status, code, ...(retryAfterMs === undefined ? {} : { retryAfterMs }) }
}

function parseRetryAfterMs(
  text: string | undefined,
  hubTime: Date | undefined,
): number | undefined {
  if (text === undefined) return undefined
  const at = /^\d+$/.test(text) ? undefined : parseHttpDate(text)
  const delayMs =
    at === undefined ? Number(text) * 1000 : hubTime && at.getTime() - hubTime.getTime()
  if (delayMs === undefined || !Number.isFinite(delayMs)) return undefined
  return Math.min(RETRY_AFTER_MS_MAX, Math.max(0, delayMs))
}

function parseBundleNumber(headers: HttpHeaders): BundleNumber | undefined {
  const number = parseCount(single(headers[BUNDLE_NUMBER_HEADER]))
  const epoch = parseCount(single(headers[BUNDLE_EPOCH_HEADER]))
  return number === undefined ? undefined : { epoch: epoch ?? 1, number }
}

function parseCount(text: string | undefined): number | undefined {
  return text !== undefined && /^[1-9]\d{0,9}$/.test(text) ? Number(text) : undefined
}

function parseHttpDate(value: string | string[] | undefined): Date | undefined {
  const date = new Date(single(value) ?? '')
  return Number.isNaN(date.getTime()) ? undefined : date
}

function single(value: string | string[] | undefined): string | undefined {
  return Array.isArray(value) ? value[0] : value
}
