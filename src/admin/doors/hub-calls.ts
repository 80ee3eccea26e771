// The admin operations of a hub, one HTTP request each, whatever the way to it. Connections are not kept: while stdout
// blocks on a pager nobody would notice that the hub has closed an idle one.

import type { ClientRequest, IncomingMessage, RequestOptions } from 'node:http'
import { SvcError, UserError } from '../../platform/errors.ts'
import { ADMIN_OPERATIONS, type AdminOperationName } from '../../protocol/admin/operations.ts'
import type { AdminErrorBody } from '../../protocol/admin/errors.ts'
import { currentTrace, formatTraceparent } from '../../platform/trace.ts'
import { fillAdminPath } from '../../protocol/admin/paths.ts'
import { findHint } from './hints.ts'
import { HubBusy } from './hub-busy.ts'

export interface HubReply {
  readonly status: number
  readonly headers: IncomingMessage['headers']
  readonly text: string
}

/** Begins a request with these options, besides its own. */
export type BeginRequest = (
  options: Omit<RequestOptions, 'headers'> & {
    readonly headers: Readonly<Record<string, string | number>>
  },
) => ClientRequest

const REQUEST_TIMEOUT_MS = 60_000
const FLEET_TIMEOUT_MS = 600_000
const REPLY_BYTES_MAX = 256 * 1024 * 1024

export function exchange(
  begin: BeginRequest,
  name: AdminOperationName,
  request: object,
  timeoutMs?: number,
): Promise<HubReply> {
  const { method, path: pattern, isFleetWide = false } = ADMIN_OPERATIONS[name]
  const { path, body } = fillAdminPath(pattern, request)
  return send(begin, {
    method,
    path: method === 'GET' ? `${path}${queryOf(request)}` : path,
    content: method === 'GET' ? '' : JSON.stringify(body),
    timeoutMs: timeoutMs ?? (isFleetWide ? FLEET_TIMEOUT_MS : REQUEST_TIMEOUT_MS),
    replyBytesMax: REPLY_BYTES_MAX,
  })
}

export interface HubRequest {
  readonly method: string
  readonly path: string
  /** JSON; empty for none. */
  readonly content: string
  readonly timeoutMs: number
  readonly replyBytesMax: number
}

export function send(
  begin: BeginRequest,
  { method, path, content, timeoutMs, replyBytesMax }: HubRequest,
): Promise<HubReply> {
  return new Promise((resolve, reject) => {
    const outgoing = begin({
      method,
      path,
      agent: false,
      signal: AbortSignal.timeout(timeoutMs),
      headers: {
        ...traceHeaders(),
        'content-type': 'application/json',
        'content-length': Buffer.byteLength(content),
      },
    })
    outgoing.once('error', reject)
    outgoing.once('response', (response) => {
      const { statusCode: status = 0, headers } = response
      readReply(response, replyBytesMax).then((text) => resolve({ status, headers, text }), reject)
    })
    outgoing.end(content)
  })
}

function whereToLook(): string {
  const trace = currentTrace()
  const lines = trace === undefined ? '' : `, in the lines with trace_id ${trace.traceId}`
  return `the hub’s log says more${lines}`
}

export function traceHeaders(): Readonly<Record<string, string>> {
  const trace = currentTrace()
  return trace === undefined ? {} : { traceparent: formatTraceparent(trace) }
}

/** Empty when the request asks for nothing: a hub from before pages knows only the bare path. */
function queryOf(request: object): string {
  const fields = Object.entries(request)
  const texts = Object.fromEntries(fields.map(([field, value]) => [field, String(value)]))
  const query = new URLSearchParams(texts).toString()
  return query === '' ? '' : `?${query}`
}

export async function readReply(response: IncomingMessage, bytesMax: number): Promise<string> {
  const chunks: Buffer[] = []
  let bytes = 0
  for await (const chunk of response) {
    const buffer = chunk as Buffer
    bytes += buffer.length
    if (bytes > bytesMax) throw new SvcError('reply_too_large', 'the hub’s reply is too large')
    chunks.push(buffer)
  }
  return Buffer.concat(chunks).toString('utf8')
}

export function parseReply(text: string): unknown {
  try {
    return JSON.parse(text) as unknown
  } catch (error) {
    throw new SvcError('reply_invalid', 'the hub’s reply is not JSON', { cause: error })
  }
}

export function errorOfReply(
  operation: AdminOperationName,
  request: object,
  status: number,
  { error, message, details = {}, ...body }: AdminErrorBody,
  retryAfter?: string,
): SvcError {
  if (status === 429 || status === 503) return new HubBusy(error, message ?? error, { retryAfter })
  if (error === 'route_not_found') {
    return new UserError(error, `this hub has no operation ${ADMIN_OPERATIONS[operation].path}`, {
      hint: 'the hub is older than this svc',
    })
  }
  // Hubs up to 0.4.0 sent hints of their own.
  const hint = body.hint ?? findHint(error, { operation, request, details })
  if (status < 500) return new UserError(error, message, hint === undefined ? {} : { hint })
  return new SvcError(error, message, { hint: hint ?? whereToLook() })
}
