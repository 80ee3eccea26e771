// What the log and the meters learn of each answer: docs/protocol.md SRF-7, LOG-4, LOG-5.

import type { FastifyReply, FastifyRequest } from 'fastify'
import type { Logger } from '../../platform/logger.ts'
import { WIRE_ERRORS, type WireErrorCode } from '../../protocol/errors.ts'
import type { PortName } from '../../protocol/routes.ts'
import { reasonNotedFor, refusalSentBy } from './error-response.ts'
import type { FloodLog } from './flood-log.ts'
import { requestFields } from './request-trace.ts'

export interface AnswerLogOptions {
  readonly port: PortName
  readonly log: Logger
  readonly floodLog: FloodLog
  readonly onAnswer?: ((answer: AnsweredRequest) => void) | undefined
  readonly onRefusal?: ((port: PortName, refusal: CountedRefusal) => void) | undefined
}

/** What is answered by a code, and what is cut off without an answer. */
export type CountedRefusal = WireErrorCode | 'pipelined' | 'stalled'

/** An answer that went out, for the metrics that count answers. */
export interface AnsweredRequest {
  readonly port: PortName
  /** The template of the route; `other` for a request without a route. */
  readonly route: string
  readonly status: number
  readonly durationMs: number
}

const PATH_CHARACTERS_MAX = 128
const REASON_CHARACTERS_MAX = 200
/** An address, or what a proxy that is believed says instead. */
const REMOTE_CHARACTERS_MAX = 64

export function noteAnswer(
  { port, log, floodLog, onAnswer, onRefusal }: AnswerLogOptions,
  request: FastifyRequest,
  reply: FastifyReply,
): void {
  const route = (request.is404 ? undefined : request.routeOptions.url) ?? 'other'
  onAnswer?.({ port, route, status: reply.statusCode, durationMs: reply.elapsedTime })
  const fields = {
    ...requestFields(request),
    method: request.method,
    path: pathOf(request).slice(0, PATH_CHARACTERS_MAX),
    status: reply.statusCode,
    duration_ms: Math.round(reply.elapsedTime),
    // A socket in the file system has no address.
    remote: (request.ip as string | undefined)?.slice(0, REMOTE_CHARACTERS_MAX),
  }
  const error = refusalSentBy(reply)
  if (error === undefined) {
    log.debug(fields, 'Request answered')
    return
  }
  onRefusal?.(port, error)
  const reason = boundReason(reasonNotedFor(reply) ?? WIRE_ERRORS[error].when)
  floodLog({ ...fields, error, reason }, 'Request refused')
}

/** A reason may quote what a client sent. */
export function boundReason(reason: string): string {
  return reason.slice(0, REASON_CHARACTERS_MAX)
}

/** Without its query, which only the route may read: docs/protocol.md LOG-5. */
export function pathOf({ url }: Pick<FastifyRequest, 'url'>): string {
  const end = url.indexOf('?')
  return end < 0 ? url : url.slice(0, end)
}
