import type { FastifyReply, FastifyRequest } from 'fastify'
import { CHANGES_ROUTE } from '../../protocol/admin/changes-route.ts'
import { describeRefusal } from './admin-routes.ts'
import type { AuthenticateViewer, ChangeStreams } from './change-streams.ts'
import { sendRefusal } from './error-response.ts'
import type { HttpPort } from './http-port.ts'
import { answerWithoutStream, openStreamResponse } from './stream-response.ts'

export interface ChangesRouteOptions {
  readonly streams: ChangeStreams
  readonly callerOf: (request: FastifyRequest) => {
    readonly address: string | undefined
    readonly holder: string
    readonly authenticate: AuthenticateViewer
  }
}

/** docs/protocol.md DOR-1, DOR-2, DOR-4. */
export function addChangesRoute(
  { app }: HttpPort,
  { streams, callerOf }: ChangesRouteOptions,
): void {
  app.get(CHANGES_ROUTE.path, (request, reply): FastifyReply => {
    const after = readPlace(request)
    if (after === 'invalid') return refuse(reply, 'request_invalid')
    if (request.method === 'HEAD') return answerWithoutStream(reply)
    const caller = callerOf(request)
    if (!streams.hasRoom(caller)) return refuse(reply, 'rate_limited')
    streams.hold({ ...caller, after, connection: openStreamResponse(request, reply) })
    return reply
  })
}

function refuse(reply: FastifyReply, refusal: 'request_invalid' | 'rate_limited'): FastifyReply {
  return sendRefusal(reply, refusal, describeRefusal(refusal))
}

/** What a reader repeats by itself comes before what its first request asked for. */
function readPlace({ headers, query }: FastifyRequest): number | undefined | 'invalid' {
  const place = headers['last-event-id'] ?? (query as { after?: unknown }).after
  if (place === undefined) return undefined
  return typeof place === 'string' && /^\d{1,15}$/.test(place) ? Number(place) : 'invalid'
}
