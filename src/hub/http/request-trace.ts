// The trace that a request belongs to: the caller's, or one whose id is that of the request.

import type { FastifyRequest } from 'fastify'
import { beginStep, parseTraceparent, type Trace } from '../../platform/trace.ts'

interface Traced {
  readonly trace: Trace
  readonly isCallers: boolean
}

const traces = new WeakMap<FastifyRequest, Traced>()

export function traceOf(request: FastifyRequest): Trace {
  return look(request).trace
}

/** What each log line about a request says of it. A trace that the caller did not bring says no more than the request's id. */
export function requestFields(request: FastifyRequest): {
  readonly request_id: string
  readonly trace_id?: string
  readonly span_id?: string
} {
  const { trace, isCallers } = look(request)
  const { traceId, spanId } = trace
  return { request_id: request.id, ...(isCallers && { trace_id: traceId, span_id: spanId }) }
}

function look(request: FastifyRequest): Traced {
  const known = traces.get(request)
  if (known !== undefined) return known
  const header = request.headers['traceparent']
  const callers = parseTraceparent(typeof header === 'string' ? header : undefined)
  const trace = beginStep(callers, request.id.replaceAll('-', ''))
  const looked = { trace, isCallers: callers !== undefined }
  traces.set(request, looked)
  return looked
}
