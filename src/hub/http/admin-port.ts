// The admin port: the operations of the admin socket over HTTPS, for callers with an admin token or a session.

import type { FastifyReply, FastifyRequest } from 'fastify'
import { invariant } from '../../platform/errors.ts'
import type { ConsoleFiles } from '../../console-files/console-files.ts'
import type { Clock } from '../../platform/clock.ts'
import { LEAST_BODY_ROOM } from '../../protocol/admin/body-room.ts'
import { CHANGES_ROUTE } from '../../protocol/admin/changes-route.ts'
import { ADMIN_OPERATIONS, type AdminOperationName } from '../../protocol/admin/operations.ts'
import { OPENID_ROUTES } from '../../protocol/admin/openid.ts'
import { SESSION_ROUTE } from '../../protocol/admin/sessions.ts'
import { includesRole } from '../../protocol/admin/roles.ts'
import { describeApi } from '../../protocol/openapi.ts'
import { ROUTES } from '../../protocol/routes.ts'
import type { WireErrorCode } from '../../protocol/errors.ts'
import type { AccessToken } from '../domain/access-token.ts'
import type { Actor } from '../domain/actor.ts'
import type { PerformOperation } from '../service/admin/admin-context.ts'
import type { OpenidSignIn } from '../service/admin/openid/openid-sign-in.ts'
import type { RefusalRecorder, RefusedPerson } from '../service/admin/record-refusals.ts'
import type { StartSession } from '../service/admin/sessions/start-session.ts'
import type { ServerCertificate } from '../service/upkeep/server-certificate.ts'
import { ADMIN_HEADERS, addAdminRoutes, describeRefusal } from './admin-routes.ts'
import { addChangesRoute } from './changes-route.ts'
import { type ChangeStreams, endingStreams } from './change-streams.ts'
import type { ConfirmationGuard } from './confirmation-guard.ts'
import { noteReason, sendRefusal } from './error-response.ts'
import { createCallerBuckets } from './connections/caller-buckets.ts'
import { addConsoleRoutes, CONSOLE_ROUTES, isOfConsole } from './console-routes.ts'
import { createHttpPort, type HttpPort, type HttpPortOptions } from './http-port.ts'
import { handshakeTimeoutMs, hubTlsOptions, tlsServerOf } from './hub-tls.ts'
import { recordedAddress } from './connections/recorded-address.ts'
import { RequestsUnderWay } from './connections/requests-under-way.ts'
import { strangerTurns } from './connections/stranger-turns.ts'
import type { DoorRefusal, Operator, OperatorDoor } from './operator-door.ts'
import { addOpenidRoutes, asksForOpenid, isOfOpenid } from './openid-routes.ts'
import { addSessionRoute } from './session-route.ts'

export interface AdminPortOptions extends Pick<
  HttpPortOptions,
  'log' | 'limits' | 'isTrustedProxy' | 'onAnswer' | 'onRefusal' | 'leakedTokens' | 'catchUp'
> {
  readonly onHandshakeFailure?: (() => void) | undefined
  readonly clock: Clock
  readonly version: string
  readonly certificate: ServerCertificate
  readonly door: OperatorDoor
  readonly startSession: StartSession
  /** Whose sessions and streams are counted together. */
  readonly holderOf: (token: AccessToken) => string
  /** Undefined where no OpenID provider is set. */
  readonly openid?: OpenidSignIn | undefined
  readonly performOperation: PerformOperation
  readonly refusals: RefusalRecorder
  /** Undefined where there is to be no console. */
  readonly consoleFiles?: ConsoleFiles | undefined
  readonly isConsoleSealing: boolean
  readonly changes: ChangeStreams
  /** Undefined where no session is asked to confirm anything. */
  readonly guard?: ConfirmationGuard | undefined
}

export interface AdminPort extends HttpPort {
  /** New connections get the new certificate; open ones go on. */
  replaceCertificate(certificate: ServerCertificate): void
}

export function createAdminPort(options: AdminPortOptions): AdminPort {
  const { log, limits, clock, refusals, door, consoleFiles, openid, guard } = options
  const operators = new WeakMap<FastifyRequest, Operator>()
  const underWay = new RequestsUnderWay()
  const failures = createCallerBuckets(limits.adminFailuresPerMinute, clock)
  /** A refusal is counted against its address, and for the log; one too many is told to wait. */
  const refuse = (
    request: FastifyRequest,
    reason: WireErrorCode,
    actor?: Actor,
    operation?: AdminOperationName,
    person?: RefusedPerson,
  ): WireErrorCode => {
    refusals.record({ actor, address: recordedAddress(request.ip), reason, operation, person })
    return failures.take(request.ip) > 0 ? 'rate_limited' : reason
  }
  /** Who has both halves of a session that has ended guesses nothing. */
  const refuseAtDoor = (
    request: FastifyRequest,
    { refusal, token }: DoorRefusal,
  ): WireErrorCode => {
    if (refusal === 'session_ended') return refusal
    return refuse(request, refusal, token && actorOf(token))
  }
  const operatorOf = (request: FastifyRequest): Operator => {
    const operator = operators.get(request)
    invariant(operator, 'every request on this port was authenticated')
    return operator
  }
  const authenticate = async (
    request: FastifyRequest,
    reply: FastifyReply,
  ): Promise<WireErrorCode | undefined> => {
    if (consoleFiles !== undefined && isOfConsole(request)) return undefined
    if (openid !== undefined && isOfOpenid(request)) return undefined
    // The sign-in screen asks whether there is a provider: that there is none is no refusal for the log.
    if (openid === undefined && consoleFiles !== undefined && asksForOpenid(request)) {
      return 'route_not_found'
    }
    const found = await (beginsSession(request)
      ? door.authenticateStarter(request.headers)
      : door.authenticate(request.headers))
    if ('refusal' in found) {
      reply.header('www-authenticate', 'Bearer')
      return refuseAtDoor(request, found)
    }
    const isAskedAgain = operators.has(request)
    operators.set(request, found)
    // Streams of changes have a bound of their own.
    if (isAskedAgain || request.routeOptions.url === CHANGES_ROUTE.path) return undefined
    return underWay.enter(options.holderOf(found.token), reply.raw) ? undefined : 'rate_limited'
  }
  const port = createHttpPort({
    port: 'admin',
    turns: strangerTurns,
    routes: [
      ...Object.values(ADMIN_OPERATIONS),
      SESSION_ROUTE,
      CHANGES_ROUTE,
      ROUTES.openapi,
      ...(consoleFiles === undefined ? [] : CONSOLE_ROUTES),
      ...(openid === undefined ? [] : Object.values(OPENID_ROUTES)),
    ],
    log,
    limits: { ...limits, bodyBytes: LEAST_BODY_ROOM.bytesMax },
    isTrustedProxy: options.isTrustedProxy,
    onAnswer: options.onAnswer,
    onRefusal: options.onRefusal,
    leakedTokens: options.leakedTokens,
    catchUp: options.catchUp,
    headers: ADMIN_HEADERS,
    bodyOf: describeRefusal,
    ...(guard && { onBody: guard.noteBody }),
    authenticate,
    https: { ...hubTlsOptions(options.certificate), handshakeTimeout: handshakeTimeoutMs(limits) },
  })
  // Checked again when the body is complete: otherwise a client that holds back its body could outlive its token's revocation.
  port.app.addHook('preHandler', async (request, reply) => {
    const refusal = await authenticate(request, reply)
    if (refusal !== undefined) return sendRefusal(reply, refusal, describeRefusal(refusal))
    return undefined
  })
  const server = tlsServerOf(port, options)
  if (consoleFiles !== undefined) addConsoleRoutes(port, consoleFiles, options.isConsoleSealing)
  addAdminRoutes(port, {
    log,
    performOperation: options.performOperation,
    credentialsOf: (request) => {
      const { token, credential, session } = operatorOf(request)
      return {
        actor: actorOf(token),
        role: token.role,
        only: token.only,
        session: session?.cookieHash,
        token: token.hash,
        credential,
      }
    },
    confirm: async (request, reply, name, asked) => {
      const { token, session } = operatorOf(request)
      if (guard === undefined || session === undefined) return { by: undefined }
      const judged = await guard.judge(request, { name, asked }, { session, token })
      if (!('fault' in judged)) return judged
      noteReason(reply, judged.fault)
      return { refusal: refuse(request, judged.refusal, actorOf(token), name) }
    },
    authorise: (request, name) => {
      const { token } = operatorOf(request)
      const { role, isForSomeHosts } = ADMIN_OPERATIONS[name]
      if (!includesRole(token.role, role)) {
        return refuse(request, 'role_insufficient', actorOf(token), name)
      }
      if (token.only === null || isForSomeHosts === true) return undefined
      return refuse(request, 'token_bounded', actorOf(token), name)
    },
  })
  addSessionRoute(port, {
    clock,
    operatorOf,
    startSession: options.startSession,
    holderOf: options.holderOf,
    refuse: refuseAtDoor,
  })
  if (openid !== undefined) {
    addOpenidRoutes(port, {
      clock,
      signIn: openid,
      perMinute: limits.adminFailuresPerMinute,
      refuse: (request, refusal, person) => refuse(request, refusal, undefined, undefined, person),
    })
  }
  addChangesRoute(port, {
    streams: options.changes,
    callerOf: (request) => {
      const { token, findEnd } = operatorOf(request)
      return {
        address: request.ip,
        holder: options.holderOf(token),
        // Not counted as a failure: nobody tries anything.
        authenticate: async () => (await findEnd()) ?? token,
      }
    },
  })
  const description = JSON.stringify(describeApi(options.version))
  port.app.get(ROUTES.openapi.path, (_request, reply) =>
    reply.type('application/json').send(description),
  )
  return {
    ...port,
    close: (graceMs) => endingStreams(options.changes, port.close(graceMs)),
    replaceCertificate: (certificate) => server.setSecureContext(hubTlsOptions(certificate)),
  }
}

function beginsSession(request: FastifyRequest): boolean {
  const { method, path } = SESSION_ROUTE
  return request.method === method && !request.is404 && request.routeOptions.url === path
}

function actorOf({ name }: AccessToken): Actor {
  return `token:${name}`
}
