import type { FastifyReply, FastifyRequest } from 'fastify'
import type { Clock } from '../../platform/clock.ts'
import { createTokenBuckets } from '../../platform/token-bucket.ts'
import {
  SESSION_BODY_BYTES_MAX,
  SESSION_COOKIE,
  SESSION_ROUTE,
  type StartedSession,
} from '../../protocol/admin/sessions.ts'
import type { AccessToken } from '../domain/access-token.ts'
import type { StartSession } from '../service/admin/sessions/start-session.ts'
import { describeRefusal } from './admin-routes.ts'
import { recordedAddress } from './connections/recorded-address.ts'
import { sendRateLimited, sendRefusal } from './error-response.ts'
import type { HttpPort } from './http-port.ts'
import type { DoorRefusal, Operator } from './operator-door.ts'
import type { WireErrorCode } from '../../protocol/errors.ts'

export interface SessionRouteOptions {
  readonly clock: Clock
  readonly startSession: StartSession
  readonly holderOf: (token: AccessToken) => string
  readonly operatorOf: (request: FastifyRequest) => Operator
  readonly refuse: (request: FastifyRequest, refused: DoorRefusal) => WireErrorCode
}

/** For each holder: a session is an entry of the log. */
const STARTS_PER_MINUTE = 10

/** Nothing of the page's own: it is set for the whole host, and read by no script. */
const COOKIE_ATTRIBUTES = 'Path=/; Secure; HttpOnly; SameSite=Strict'

/** Begins a session for the caller that was let in by a token or a code. docs/protocol.md SES-2. */
export function addSessionRoute({ app }: HttpPort, options: SessionRouteOptions): void {
  const { clock, startSession, holderOf, operatorOf, refuse } = options
  const starts = createTokenBuckets({
    perSecond: STARTS_PER_MINUTE / 60,
    burst: STARTS_PER_MINUTE,
    now: () => clock.now(),
  })
  app.route({
    method: SESSION_ROUTE.method,
    url: SESSION_ROUTE.path,
    bodyLimit: SESSION_BODY_BYTES_MAX,
    handler: async (request, reply): Promise<FastifyReply> => {
      const { token, credential, isByCode } = operatorOf(request)
      const waitMs = starts.take(holderOf(token))
      if (waitMs > 0) return sendRateLimited(reply, waitMs, describeRefusal('rate_limited'))
      const begun = await startSession(credential, isByCode, recordedAddress(request.ip))
      if ('refusal' in begun) {
        const code = refuse(request, begun)
        return sendRefusal(reply, code, describeRefusal(code))
      }
      const { cookie, secret, view } = begun
      const body: StartedSession = { ...view, secret }
      return reply
        .header('set-cookie', `${SESSION_COOKIE}=${cookie}; ${COOKIE_ATTRIBUTES}`)
        .type('application/json')
        .send(body)
    },
  })
}
