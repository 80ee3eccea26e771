// The one place that turns a refusal into an answer: `{"error": "<code>"}` on an agent's port, more on the admin port.

import type { FastifyReply } from 'fastify'
import { SvcError } from '../../platform/errors.ts'
import { WIRE_ERRORS, type WireErrorCode } from '../../protocol/errors.ts'
import { RequestRefusal } from './json/request-refusal.ts'

export const RETRY_AFTER_SECONDS = 5

const refusals = new WeakMap<FastifyReply, WireErrorCode>()

/** What a reply refused, for the log; undefined when it refused nothing. */
export function refusalSentBy(reply: FastifyReply): WireErrorCode | undefined {
  return refusals.get(reply)
}

const reasons = new WeakMap<FastifyReply, string>()

/** Why a request is refused, in words for the log; the first one that is given counts. */
export function noteReason(reply: FastifyReply, reason: string): void {
  if (!reasons.has(reply)) reasons.set(reply, reason)
}

export function reasonNotedFor(reply: FastifyReply): string | undefined {
  return reasons.get(reply)
}

/** What a refusal says on the ports of agents. */
export function errorBody(refusal: WireErrorCode): object {
  return { error: refusal }
}

export function sendRefusal(
  reply: FastifyReply,
  refusal: WireErrorCode,
  body: object = errorBody(refusal),
): FastifyReply {
  const { status } = WIRE_ERRORS[refusal]
  refusals.set(reply, refusal)
  if (status === 503 || status === 429) reply.header('retry-after', RETRY_AFTER_SECONDS)
  return reply.code(status).type('application/json').send(body)
}

export function sendRateLimited(
  reply: FastifyReply,
  waitMs: number,
  body: object = errorBody('rate_limited'),
): FastifyReply {
  refusals.set(reply, 'rate_limited')
  reply.header('retry-after', Math.max(1, Math.ceil(waitMs / 1000)))
  return reply.code(WIRE_ERRORS.rate_limited.status).type('application/json').send(body)
}

/** The code for whatever a request threw; `internal_error` for what the hub does not expect. */
export function refusalOf(error: unknown): WireErrorCode {
  if (error instanceof RequestRefusal) return error.refusal
  if (error instanceof SvcError && UNAVAILABLE.has(error.code)) return 'unavailable'
  return (
    (error instanceof Error && 'code' in error && FASTIFY_ERRORS.get(error.code)) ||
    'internal_error'
  )
}

/** The vault, and the segments of its log: an agent may ask for a proof of what lies in one that is not there. */
const UNAVAILABLE: ReadonlySet<string> = new Set([
  'store_unavailable',
  // Of a journal that several hubs share: what became of the write is not known, or this hub has to be looked after.
  'store_unknown',
  'store_behind',
  'store_diverged',
  'lease_lost',
  'hub_removed',
  'segment_missing',
  'segment_damaged',
  'segment_unknown',
  'segment_newer',
])

const FASTIFY_ERRORS: ReadonlyMap<unknown, WireErrorCode> = new Map<string, WireErrorCode>([
  ['FST_ERR_CTP_BODY_TOO_LARGE', 'body_too_large'],
  ['FST_ERR_CTP_INVALID_MEDIA_TYPE', 'unsupported_media_type'],
  ['FST_ERR_CTP_INVALID_CONTENT_LENGTH', 'request_invalid'],
  ['FST_ERR_CTP_EMPTY_JSON_BODY', 'json_invalid'],
  ['FST_ERR_BAD_URL', 'route_not_found'],
  ['ECONNRESET', 'request_invalid'],
])
