// Sign-in by an OpenID provider: three routes of the admin port for callers that the hub does not know yet. docs/protocol.md OID-1 to
// OID-4, OID-11.

import type { FastifyReply, FastifyRequest } from 'fastify'
import type { TObject } from 'typebox'
import type { Clock } from '../../platform/clock.ts'
import type { AdminErrorBody } from '../../protocol/admin/errors.ts'
import {
  OPENID_BODY_BYTES_MAX,
  OPENID_ROUTES,
  OpenidFinish,
  OpenidStart,
} from '../../protocol/admin/openid.ts'
import type { WireErrorCode } from '../../protocol/errors.ts'
import type {
  AskedFrom,
  OpenidSignIn,
  SignInRefusal,
} from '../service/admin/openid/openid-sign-in.ts'
import { pathOf } from './answer-log.ts'
import { describeRefusal } from './admin-routes.ts'
import { createCallerBuckets } from './connections/caller-buckets.ts'
import { noteReason, sendRateLimited, sendRefusal } from './error-response.ts'
import type { HttpPort } from './http-port.ts'

export interface OpenidRoutesOptions {
  readonly clock: Clock
  readonly signIn: OpenidSignIn
  /** Of one address, together. */
  readonly perMinute: number
  /** Records and counts it; answers what is to be said. */
  readonly refuse: (
    request: FastifyRequest,
    refusal: WireErrorCode,
    person: SignInRefusal['person'],
  ) => WireErrorCode
}

/** For a caller that was told that the hub is busy with others. */
const BUSY_MS = 1000
const PATHS: ReadonlySet<string> = new Set(Object.values(OPENID_ROUTES).map(({ path }) => path))

/** Whether a request is answered without credentials, where a provider is set. */
export function isOfOpenid({ is404, routeOptions }: FastifyRequest): boolean {
  return !is404 && routeOptions.url !== undefined && PATHS.has(routeOptions.url)
}

/** Whether somebody asks if a provider is set, where none is. */
export function asksForOpenid(request: FastifyRequest): boolean {
  const { method, path } = OPENID_ROUTES.show
  return request.is404 && request.method === method && pathOf(request) === path
}

export function addOpenidRoutes({ app }: HttpPort, options: OpenidRoutesOptions): void {
  const { clock, signIn, perMinute, refuse } = options
  const starts = createCallerBuckets(perMinute, clock)
  const finishes = createCallerBuckets(perMinute, clock)

  const answer = (
    request: FastifyRequest,
    reply: FastifyReply,
    outcome: object | SignInRefusal,
  ): FastifyReply => {
    if (!('refusal' in outcome)) return reply.type('application/json').send(outcome)
    const { refusal, reason, message, details, person } = outcome
    if (reason !== undefined) noteReason(reply, reason)
    if (refusal === 'rate_limited') {
      return sendRateLimited(reply, BUSY_MS, describeRefusal('rate_limited'))
    }
    const code = UNRECORDED.has(refusal) ? refusal : refuse(request, refusal, person)
    const described = describeRefusal(code)
    const body: AdminErrorBody =
      code === refusal
        ? { ...described, ...(message && { message }), ...(details && { details }) }
        : described
    return sendRefusal(reply, code, body)
  }

  app.route({
    ...toRoute(OPENID_ROUTES.show),
    handler: (_request, reply) => reply.type('application/json').send(signIn.shown),
  })
  app.route<{ Body: OpenidStart }>({
    ...toRoute(OPENID_ROUTES.start, OpenidStart),
    handler: async (request, reply) => {
      const waitMs = starts.take(request.ip)
      if (waitMs > 0) return sendRateLimited(reply, waitMs, describeRefusal('rate_limited'))
      return answer(request, reply, await signIn.start(request.body, askedFrom(request)))
    },
  })
  app.route<{ Body: OpenidFinish }>({
    ...toRoute(OPENID_ROUTES.finish, OpenidFinish),
    handler: async (request, reply) => {
      const waitMs = finishes.take(request.ip)
      if (waitMs > 0) return sendRateLimited(reply, waitMs, describeRefusal('rate_limited'))
      return answer(request, reply, await signIn.finish(request.body, askedFrom(request)))
    },
  })
}

/** Nobody tries anything: the provider is away, or the request is not one. */
const UNRECORDED: ReadonlySet<WireErrorCode> = new Set([
  'request_invalid',
  'sign_in_provider_unavailable',
])

function toRoute(
  { method, path }: { readonly method: 'GET' | 'POST'; readonly path: string },
  body?: TObject,
) {
  return { method, url: path, bodyLimit: OPENID_BODY_BYTES_MAX, ...(body && { schema: { body } }) }
}

/** Browsers say so themselves, and no page can change it; `svc` says nothing. */
function askedFrom({ headers }: FastifyRequest): AskedFrom {
  const { 'sec-fetch-site': site, origin } = headers
  if (site === 'same-origin') return 'own page'
  return site === undefined && origin === undefined ? 'program' : 'other page'
}
