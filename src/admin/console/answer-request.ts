// One request to the console of svc: a file of the page, something of svc itself, or an operation of the hub. docs/protocol.md LOC.

import type { IncomingMessage, ServerResponse } from 'node:http'
import { CONSOLE_PATH, type ConsoleFiles } from '../../console-files/console-files.ts'
import type { Clock } from '../../platform/clock.ts'
import {
  JudgeRequest,
  KeepRequest,
  LOCAL_CONSOLE_ROUTES,
  type LocalConsole,
} from '../../protocol/admin/local-console.ts'
import { ADMIN_OPERATIONS } from '../../protocol/admin/operations.ts'
import {
  type AdminSession,
  SESSION_HEADER,
  SESSION_OPERATIONS,
  SESSION_ROUTE,
  type StartedSession,
  UNATTENDED_HEADER,
} from '../../protocol/admin/sessions.ts'
import type { HubLine } from '../doors/hub-line.ts'
import { findOperation, type PassedOn } from './find-operation.ts'
import { cookieNameAt, isForUs, isOfOwnPage, readBearer, readHalves } from './judge-request.ts'
import { LocalRefusal, readBody, sendJson } from './local-answers.ts'
import type { LocalSessions } from './local-sessions.ts'
import { passOn } from './pass-on.ts'
import type { PinDesk } from './pin-desk.ts'

export interface ConsoleDesk {
  readonly files: ConsoleFiles
  readonly line: HubLine
  readonly sessions: LocalSessions
  readonly desk: PinDesk
  readonly local: LocalConsole
  readonly clock: Clock
  /** What is answered for a session ends with it. */
  readonly holdFor: (sessionId: string, response: ServerResponse) => void
}

/** As the hub's admin port takes. */
const BODY_BYTES_MAX = 16 * 1024 * 1024
const COOKIE_ATTRIBUTES = 'Path=/; Secure; HttpOnly; SameSite=Strict'

/** Throws what is to be told to the caller. */
export async function answerRequest(
  console: ConsoleDesk,
  request: IncomingMessage,
  response: ServerResponse,
  port: number,
): Promise<void> {
  const { method = '', headers } = request
  if (!isForUs(headers, port)) {
    throw new LocalRefusal(421, 'host_unknown', 'svc serves its console on 127.0.0.1 alone')
  }
  const [path = ''] = (request.url ?? '').split('?', 1)
  if (isOfPage(method, path)) return sendFile(console.files, request, response, path)
  if (!isOfOwnPage(headers)) {
    throw new LocalRefusal(403, 'cross_site', 'only the page that svc serves may ask for this')
  }
  if (method === SESSION_ROUTE.method && path === SESSION_ROUTE.path) {
    return beginSession(console, request, response, port)
  }
  const view = findSession(console, request, port)
  console.holdFor(view.id, response)
  if (isRoute(LOCAL_CONSOLE_ROUTES.showLocalConsole, method, path)) {
    return sendJson(response, 200, console.local)
  }
  if (isRoute(LOCAL_CONSOLE_ROUTES.judgeRecipients, method, path)) {
    const asked = (await readBody(request, JudgeRequest)) as JudgeRequest
    return sendJson(response, 200, await console.desk.judge(asked))
  }
  if (isRoute(LOCAL_CONSOLE_ROUTES.keepRecipients, method, path)) {
    await console.desk.keep((await readBody(request, KeepRequest)) as KeepRequest)
    return sendJson(response, 200, {})
  }
  const name = findOperation(method, path)
  if (name === undefined) throw new LocalRefusal(404, 'route_not_found', 'no such operation')
  if (name === 'showSession') return sendJson(response, 200, view)
  if (name === 'endSession') return endSession(console, request, response, view)
  return forward(console, request, response, name)
}

function isRoute(
  route: { readonly method: string; readonly path: string },
  method: string,
  path: string,
): boolean {
  return route.method === method && route.path === path
}

function isOfPage(method: string, path: string): boolean {
  if (method !== 'GET' && method !== 'HEAD') return false
  return path === '/' || path === '/console' || path.startsWith(CONSOLE_PATH)
}

/** The same for everybody: what the page shows is asked for with credentials. */
function sendFile(
  files: ConsoleFiles,
  request: IncomingMessage,
  response: ServerResponse,
  path: string,
): void {
  if (!path.startsWith(CONSOLE_PATH)) {
    response.writeHead(302, { location: CONSOLE_PATH, 'content-length': 0 })
    return void response.end()
  }
  const accepted = request.headers['accept-encoding']
  const answer = files({
    path,
    acceptEncoding: typeof accepted === 'string' ? accepted : undefined,
    ifNoneMatch: request.headers['if-none-match'],
  })
  response.writeHead(answer.status, answer.headers)
  response.end(request.method === 'HEAD' ? undefined : answer.body)
}

function beginSession(
  { sessions }: ConsoleDesk,
  request: IncomingMessage,
  response: ServerResponse,
  port: number,
): void {
  // An admin token is svc's own: the page never has one.
  const begun = sessions.begin(readBearer(request.headers), request.socket.remoteAddress ?? '')
  if (begun === 'used') {
    throw new LocalRefusal(401, 'sign_in_code_used', 'the link has signed in somebody already')
  }
  if (begun === 'unknown') {
    throw new LocalRefusal(401, 'sign_in_code_unknown', 'open the link that svc console prints')
  }
  const body: StartedSession = { ...begun.view, secret: begun.secret }
  const cookie = `${cookieNameAt(port)}=${begun.cookie}; ${COOKIE_ATTRIBUTES}`
  request.resume()
  sendJson(response, 200, body, { 'set-cookie': cookie })
}

function findSession(
  { sessions }: ConsoleDesk,
  { headers }: IncomingMessage,
  port: number,
): AdminSession {
  const halves = headers.authorization === undefined ? readHalves(headers, port) : undefined
  const found =
    halves === undefined
      ? 'unknown'
      : sessions.find(halves, headers[UNATTENDED_HEADER] === undefined)
  if (found === 'ended') throw new LocalRefusal(401, 'session_ended', 'the session has ended')
  if (found !== 'unknown') return found.view
  throw new LocalRefusal(401, 'session_unknown', `sign in: the cookie and ${SESSION_HEADER}`)
}

async function endSession(
  { sessions, line }: ConsoleDesk,
  request: IncomingMessage,
  response: ServerResponse,
  view: AdminSession,
): Promise<void> {
  const { request: schema } = SESSION_OPERATIONS.endSession
  const { session } = (await readBody(request, schema)) as { session?: string }
  if (session !== undefined && !view.id.startsWith(session)) {
    return sendJson(response, 200, await line.operations.endSession({ session }))
  }
  sendJson(response, 200, view)
  sessions.end(view.id)
}

async function forward(
  { line, sessions, clock }: ConsoleDesk,
  request: IncomingMessage,
  response: ServerResponse,
  name: PassedOn,
): Promise<void> {
  refuseUnmeasured(request)
  const isAnswered = await passOn(line, {
    request,
    response,
    clock,
    isFleetWide: name !== 'changes' && isFleetWide(name),
    // Every session here lives by that token.
    onRefusedToken: () => sessions.endAll(),
  })
  if (isAnswered || response.destroyed) return
  throw new LocalRefusal(502, 'hub_unreachable', `${line.hub} does not answer`)
}

function isFleetWide(name: Exclude<PassedOn, 'changes'>): boolean {
  const operation: { readonly isFleetWide?: true } = ADMIN_OPERATIONS[name]
  return operation.isFleetWide === true
}

/** What says its length cannot grow on the way. */
function refuseUnmeasured({ method, headers }: IncomingMessage): void {
  const length = headers['content-length']
  if (method === 'POST' && length === undefined) {
    throw new LocalRefusal(411, 'length_required', 'the body has to say its length')
  }
  if (headers['transfer-encoding'] !== undefined) {
    throw new LocalRefusal(411, 'length_required', 'the body has to say its length')
  }
  if (Number(length ?? 0) <= BODY_BYTES_MAX) return
  throw new LocalRefusal(413, 'body_too_large', 'the body is over its limit')
}
