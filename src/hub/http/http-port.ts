// What all ports have in common: order of checks, limits, request ids, errors, logs.
// Order: route, method, size, media type, JSON, shape (docs/protocol.md ERR); a port may put its own check before all.

import { randomUUID } from 'node:crypto'
import { maxHeaderSize, type IncomingMessage, type ServerResponse } from 'node:http'
import type { ServerOptions as HttpsServerOptions } from 'node:https'
import type { Socket } from 'node:net'
import { type FastifyInstance, type FastifyReply, type FastifyRequest, fastify } from 'fastify'
import { Compile } from 'typebox/compile'
import type { TSchema } from 'typebox'
import { describeError } from '../../platform/errors.ts'
import type { Logger } from '../../platform/logger.ts'
import { namesSeveralHosts } from '../../platform/names-several-hosts.ts'
import { withTrace } from '../../platform/trace.ts'
import { WIRE_ERRORS, type WireErrorCode } from '../../protocol/errors.ts'
import type { BodyRoom } from '../../protocol/admin/body-room.ts'
import { type PortName, ROUTES } from '../../protocol/routes.ts'
import type { HubLimits } from '../../protocol/hub-limits.ts'
import { type AnswerLogOptions, noteAnswer, pathOf } from './answer-log.ts'
import { answerBrokenRequest, type BrokenRequest, requestLineOf } from './answer-broken-request.ts'
import { answerUnavailable } from './answer-unavailable.ts'
import { boundDroppedBody } from './connections/bound-body.ts'
import { guardConnections } from './connections/connection-guard.ts'
import { cutStalled } from './connections/cut-stalled.ts'
import { createFloodLog } from './flood-log.ts'
import { recordedAddress } from './connections/recorded-address.ts'
import { guardRequests } from './connections/request-guard.ts'
import { errorBody, noteReason, refusalOf, sendRateLimited, sendRefusal } from './error-response.ts'
import type { LeakedTokens } from '../service/agent/end-leaked-token.ts'
import { requestFields, traceOf } from './request-trace.ts'
import { parseJsonBody } from './json/json-body.ts'
import { JSON_ROOM } from './json/json-room.ts'
import { RequestRefusal } from './json/request-refusal.ts'
import type { StrangerTurns } from './connections/stranger-turns.ts'
import { trackConnections } from './connections/track-connections.ts'
import type { IsTrustedProxy } from './connections/trusted-proxies.ts'

export interface HttpPortOptions extends Pick<AnswerLogOptions, 'onAnswer' | 'onRefusal'> {
  readonly port: PortName
  readonly log: Logger
  readonly limits: HubLimits
  readonly isTrustedProxy: IsTrustedProxy
  readonly https?: HttpsServerOptions
  /** Each request waits for one before anything is done about it. */
  readonly turns?: StrangerTurns
  /** Where several hubs share a vault: resolves when this one knows what all of them did before. */
  readonly catchUp?: (() => Promise<void>) | undefined
  /** Runs before any other check, for unknown routes too; answers a refusal or nothing. */
  readonly authenticate?: (
    request: FastifyRequest,
    reply: FastifyReply,
  ) => Promise<WireErrorCode | undefined>
  /** What every answer carries besides its `X-Request-Id`. */
  readonly headers?: Readonly<Record<string, string>>
  /** What else than `{error}` the body of a refusal says. */
  readonly bodyOf?: (refusal: WireErrorCode) => object
  /** The routes of the port, when they are not the routes of protocol/routes.ts. */
  readonly routes?: readonly Route[]
  /** Whether a request that is refused for its body is answered `rate_limited` instead, and when to come back. */
  readonly limitRefusal?: (request: FastifyRequest, refusal: WireErrorCode) => Promise<number>
  /** Sees each body that is JSON by its media type, before it is parsed. */
  readonly onBody?: (request: FastifyRequest, body: Buffer) => void
  /** Ends a token that is in a URL: docs/protocol.md TOK-10. */
  readonly leakedTokens?: LeakedTokens | undefined
}

declare module 'fastify' {
  interface FastifyContextConfig {
    /** Of a route whose bodies have another one than all of its port; so much of a refused one is dropped, too. */
    readonly room?: BodyRoom
  }
}

interface Route {
  readonly method: string
  readonly path: string
}

export interface HttpPort {
  readonly app: FastifyInstance
  /** The address that was bound. */
  listen(address: {
    readonly host: string
    readonly port: number
  }): Promise<{ host: string; port: number }>
  countConnections(): Promise<number>
  /** Stops accepting, lets what is under way finish, for at most `graceMs`. */
  close(graceMs: number): Promise<void>
}

/** Longer than the default poll interval, so that an agent's connection is kept from poll to poll. */
const KEEP_ALIVE_TIMEOUT_MS = 75_000
/**
 * All that expired since the last look are answered in one go, which an agent has to wait for: often, so few at a time. Each
 * look goes through all connections, a third of a millisecond for 2,000, so not too often either; and prime numbers, so that
 * two ports seldom look in the same turn of the event loop.
 */
const CONNECTIONS_CHECK_INTERVAL_MS: Readonly<Record<PortName, number>> = {
  health: 97,
  enroll: 101,
  mtls: 103,
  admin: 107,
  enroll_tls: 109,
}

export function createHttpPort(options: HttpPortOptions): HttpPort {
  const { log, port, limits, authenticate, onAnswer } = options
  const { bodyOf = errorBody } = options
  const { routes = Object.values(ROUTES).filter((route) => route.port === port) } = options
  const answers: AnswerLogOptions = { ...options, floodLog: createFloodLog({ log }) }
  let isClosing = false
  const endTokenIn = (url: string, address: string | undefined): Promise<void> | undefined =>
    options.leakedTokens?.endTokenIn(url, { port, address: recordedAddress(address) })
  const server = {
    requireHostHeader: false,
    connectionsCheckingInterval: CONNECTIONS_CHECK_INTERVAL_MS[port],
  }
  const ownHeaders = Object.entries(options.headers ?? {})
  const begin = async (
    request: FastifyRequest,
    reply: FastifyReply,
  ): Promise<WireErrorCode | undefined> => {
    for (const [name, value] of ownHeaders) reply.header(name, value)
    reply.header('x-request-id', request.id)
    // Before anything is made of the request: the token that is in its URL may be in its header or body too.
    const ending = endTokenIn(request.url, request.ip)
    if (ending !== undefined) await ending
    const refusal =
      refuseUnlikeHttp(request, reply, port) ?? (isClosing ? 'unavailable' : undefined)
    if (refusal !== undefined) return refusal
    if (options.catchUp !== undefined) await options.catchUp()
    return authenticate?.(request, reply)
  }
  const dropRest = (
    { raw, routeOptions: { config } }: FastifyRequest,
    { statusCode }: FastifyReply,
  ): void => {
    if (raw.complete) return
    boundDroppedBody(raw, TOLD_TO_WAIT.has(statusCode) ? undefined : config.room?.bytesMax)
  }
  // Fastify's type depends on whether it is https; the part that the hub uses is the same.
  const app = fastify({
    ...(options.https === undefined
      ? { http: server }
      : { https: { ...server, ...options.https } }),
    logger: false,
    bodyLimit: Math.min(limits.bodyBytes, Number.MAX_SAFE_INTEGER),
    trustProxy: options.isTrustedProxy,
    requestTimeout: timeoutMs(limits.requestSeconds),
    keepAliveTimeout: KEEP_ALIVE_TIMEOUT_MS,
    forceCloseConnections: 'idle',
    return503OnClosing: false,
    // An identifier of any length is one that is not found, as Node bounds the headers.
    routerOptions: { maxParamLength: maxHeaderSize },
    genReqId: () => randomUUID(),
    frameworkErrors: async (error: Error, request: FastifyRequest, reply: FastifyReply) => {
      // No hook runs for it: what comes before and after every answer is done here.
      const refusal = (await begin(request, reply)) ?? refusalOf(error)
      sendRefusal(reply, refusal, bodyOf(refusal))
      dropRest(request, reply)
      noteAnswer(answers, request, reply)
      return reply
    },
    clientErrorHandler: (error: BrokenRequest, socket: Socket) => {
      void endTokenIn(requestLineOf(error), socket.remoteAddress)
      answerBrokenRequest(answers, error, socket, bodyOf)
    },
  } as Parameters<typeof fastify>[0]) as unknown as FastifyInstance
  app.server.headersTimeout = timeoutMs(limits.headersSeconds)
  // Without a listener Node answers 417 by itself, in a form of its own; RFC 9110 lets us ignore what we do not expect.
  app.server.on('checkExpectation', (request: IncomingMessage, response: ServerResponse) =>
    app.server.emit('request', request, response),
  )
  guardConnections(app.server, limits, options.isTrustedProxy)
  cutStalled(app.server, {
    stallMs: limits.responseSeconds * 1000,
    onCut: ({ remoteAddress: remote }) => {
      const reason = 'the client read nothing of an answer'
      answers.floodLog({ error: 'stalled', reason, remote }, 'Connection cut')
      options.onRefusal?.(port, 'stalled')
    },
  })
  const connections = trackConnections(app.server, options.https !== undefined)
  // One for all responses: each is of a request that has a socket.
  function finishConnection(this: ServerResponse): void {
    connections.finish(this.req.socket)
  }
  const requests = guardRequests(app.server, {
    ...options,
    onRequest: ({ socket, httpVersion }, response) => {
      connections.begin(socket)
      if (httpVersion === '1.0') response.shouldKeepAlive = false
      response.on('close', finishConnection)
    },
    refuse: (request, response, address) => {
      void endTokenIn(request.url ?? '', address)
      const body = bodyOf('unavailable')
      const id = answerUnavailable(request, response, options.headers ?? {}, body)
      const fields = { request_id: id, status: 503, error: 'unavailable', remote: address }
      answers.floodLog({ ...fields, reason: TOO_MANY_WAIT }, 'Request refused')
      options.onRefusal?.(port, 'unavailable')
      onAnswer?.({ port, route: 'other', status: 503, durationMs: 0 })
    },
    onCut: ({ remoteAddress: remote }) => {
      const reason = 'a request before the answer to the last one'
      answers.floodLog({ error: 'pipelined', reason, remote }, 'Connection cut')
      options.onRefusal?.(port, 'pipelined')
    },
  })

  app.setValidatorCompiler(({ schema }) => {
    // Schemas come from protocol/schemas.ts, all of them TypeBox.
    const validator = Compile(schema as TSchema)
    return (value: unknown) =>
      validator.Check(value)
        ? { value }
        : { error: new RequestRefusal('request_invalid', 'wrong shape') }
  })
  app.setSerializerCompiler(() => JSON.stringify)
  app.removeAllContentTypeParsers()
  app.addContentTypeParser(
    'application/json',
    { parseAs: 'buffer' },
    async (request: FastifyRequest, body: unknown) => {
      const turn = await requests.awaitLateTurn(request.raw)
      if (turn === 'full') throw new RequestRefusal('unavailable', TOO_MANY_WAIT)
      // What is parsed as a buffer is one.
      options.onBody?.(request, body as Buffer)
      const { room = JSON_ROOM[port] } = request.routeOptions.config
      return parseJsonBody(body as Buffer, { ...room, depthMax: limits.jsonDepth })
    },
  )

  app.addHook('onRequest', async (request, reply) => {
    const refusal = (await begin(request, reply)) ?? refuseBeforeBody(request, reply, routes)
    if (refusal !== undefined) return sendRefusal(reply, refusal, bodyOf(refusal))
    return undefined
  })
  app.setNotFoundHandler((_request, reply) =>
    sendRefusal(reply, 'route_not_found', bodyOf('route_not_found')),
  )
  app.setErrorHandler(async (error, request, reply) => {
    const refusal = refusalOf(error)
    const waitMs = await waitBefore(options, request, refusal)
    const reason = describeError(error)
    if (refusal === 'internal_error') {
      log.error({ ...requestFields(request), reason, err: error }, 'Request failed')
    }
    noteReason(reply, reason)
    return waitMs > 0
      ? sendRateLimited(reply, waitMs, bodyOf('rate_limited'))
      : sendRefusal(reply, refusal, bodyOf(refusal))
  })
  // After the body is read: what Node calls back with its pieces is of no request.
  app.addHook('preHandler', (request, _reply, done) => withTrace(traceOf(request), done))
  app.addHook('onSend', (request, reply, payload, done) => {
    dropRest(request, reply)
    done(null, payload)
  })
  app.addHook('onResponse', (request, reply, done) => {
    noteAnswer(answers, request, reply)
    done()
  })

  return {
    app,
    listen: async (address) => {
      await app.listen(address)
      const bound = app.server.address()
      return typeof bound === 'object' && bound !== null
        ? { host: bound.address, port: bound.port }
        : { ...address }
    },
    countConnections: () =>
      new Promise((resolve, reject) => {
        app.server.getConnections((error, count) => (error ? reject(error) : resolve(count)))
      }),
    close: async (graceMs) => {
      isClosing = true
      connections.cutIdle()
      const deadline = AbortSignal.timeout(graceMs)
      deadline.addEventListener('abort', () => app.server.closeAllConnections())
      await app.close()
    },
  }
}

function refuseUnlikeHttp(
  request: FastifyRequest,
  reply: FastifyReply,
  port: PortName,
): WireErrorCode | undefined {
  const fault = findHttpFault(request, port)
  if (fault === undefined) return undefined
  noteReason(reply, fault)
  reply.header('connection', 'close')
  return 'request_invalid'
}

/** Node itself accepts other versions, no version, and several hosts. docs/protocol.md SRF-12, SRF-23, HLT-3. */
function findHttpFault({ raw }: FastifyRequest, port: PortName): string | undefined {
  const isSpoken = raw.httpVersion === '1.1' || (raw.httpVersion === '1.0' && port === 'health')
  if (!isSpoken) return `HTTP/${raw.httpVersion}, the hub speaks only HTTP/1.1`
  return namesSeveralHosts(raw) ? 'more than one Host' : undefined
}

/** Counting must not turn a refusal into a failure: a store that cannot be asked counts nothing. */
async function waitBefore(
  { limitRefusal }: HttpPortOptions,
  request: FastifyRequest,
  refusal: WireErrorCode,
): Promise<number> {
  try {
    return (await limitRefusal?.(request, refusal)) ?? 0
  } catch {
    return 0
  }
}

/** Who is told to come again has nothing else to read. docs/protocol.md LIM-5. */
const TOLD_TO_WAIT: ReadonlySet<number> = new Set(
  (['rate_limited', 'unavailable'] as const).map((code) => WIRE_ERRORS[code].status),
)
const TOO_MANY_WAIT = 'too many callers wait for their turn'

const BODY_METHODS: ReadonlySet<string> = new Set(['POST', 'PUT'])

function refuseBeforeBody(
  request: FastifyRequest,
  reply: FastifyReply,
  routes: readonly Route[],
): WireErrorCode | undefined {
  if (request.is404) return refuseUnroutable(request, reply, routes)
  if (!BODY_METHODS.has(request.method)) return undefined
  const { bodyLimit } = request.routeOptions
  if (Number(request.headers['content-length'] ?? 0) > bodyLimit) return 'body_too_large'
  return isJson(request.headers['content-type']) ? undefined : 'unsupported_media_type'
}

function refuseUnroutable(
  request: FastifyRequest,
  reply: FastifyReply,
  routes: readonly Route[],
): WireErrorCode {
  const path = pathOf(request)
  const methods = routes
    .filter((route) => isPathOf(route.path, path))
    .flatMap(({ method }) => (method === 'GET' ? ['GET', 'HEAD'] : [method]))
  if (methods.length === 0) return 'route_not_found'
  reply.header('allow', methods.join(', '))
  return 'method_not_allowed'
}

/** A `:name` in a route's path stands for one segment of the path, an empty one too. */
function isPathOf(pattern: string, path: string): boolean {
  const wanted = pattern.split('/')
  const segments = path.split('/')
  return (
    wanted.length === segments.length &&
    wanted.every((part, at) => part.startsWith(':') || part === segments[at])
  )
}

/** Node's timers know no infinity; 0 turns its timeouts off. */
function timeoutMs(seconds: number): number {
  return Number.isFinite(seconds) ? seconds * 1000 : 0
}

function isJson(contentType: string | undefined): boolean {
  return contentType?.split(';', 1)[0]?.trim().toLowerCase() === 'application/json'
}
