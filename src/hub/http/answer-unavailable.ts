import { randomUUID } from 'node:crypto'
import type { IncomingMessage, ServerResponse } from 'node:http'
import { WIRE_ERRORS } from '../../protocol/errors.ts'
import { boundDroppedBody } from './connections/bound-body.ts'
import { RETRY_AFTER_SECONDS } from './error-response.ts'

/** Answers a request that nothing is done about, 503 and at a small price; the id of the answer. */
export function answerUnavailable(
  request: IncomingMessage,
  response: ServerResponse,
  headers: Readonly<Record<string, string>>,
  body: object,
): string {
  const text = JSON.stringify(body)
  const requestId = randomUUID()
  response.writeHead(WIRE_ERRORS.unavailable.status, {
    ...headers,
    'content-type': 'application/json',
    'content-length': Buffer.byteLength(text),
    'retry-after': String(RETRY_AFTER_SECONDS),
    'x-request-id': requestId,
  })
  response.end(request.method === 'HEAD' ? undefined : text)
  if (!request.complete) boundDroppedBody(request)
  return requestId
}
