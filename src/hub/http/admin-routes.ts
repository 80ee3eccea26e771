// The admin operations as HTTP routes: the same on the socket and on the admin port.

import { setImmediate as nextTurn } from 'node:timers/promises'
import type { FastifyReply, FastifyRequest } from 'fastify'
import { describeError, SvcError } from '../../platform/errors.ts'
import type { Logger } from '../../platform/logger.ts'
import {
  ADMIN_OPERATION_NAMES,
  ADMIN_OPERATIONS,
  type AdminOperationName,
} from '../../protocol/admin/operations.ts'
import {
  ADMIN_ERRORS,
  type AdminErrorBody,
  type AdminErrorCode,
} from '../../protocol/admin/errors.ts'
import { bodyRoomOf } from '../../protocol/admin/body-room.ts'
import { findAdminRequestFault } from '../../protocol/admin/requests.ts'
import type { AdminRole } from '../../protocol/admin/roles.ts'
import type { TokenHash } from '../../protocol/identifiers.ts'
import { WIRE_ERRORS, type WireErrorCode } from '../../protocol/errors.ts'
import type { Actor } from '../domain/actor.ts'
import { AdminRefusal } from '../service/admin-act.ts'
import type { PerformOperation } from '../service/admin/admin-context.ts'
import { entityTagOf, readIdempotencyKey, readQuery, withIfMatch } from './admin-headers.ts'
import { sendRateLimited, sendRefusal } from './error-response.ts'
import type { HttpPort } from './http-port.ts'
import { inSlices } from './json/json-slices.ts'
import { requestFields } from './request-trace.ts'

export interface Credentials {
  readonly actor: Actor
  readonly role: AdminRole
  /** The selector of a token that is for some hosts alone. */
  readonly only?: string | null
  /** The session that asks, by the hash of its cookie. */
  readonly session?: TokenHash | undefined
  /** The admin token that asks, or whose session does. */
  readonly token?: TokenHash | undefined
  readonly credential: string
}

export interface AdminRoutesOptions {
  readonly log: Logger
  readonly performOperation: PerformOperation
  readonly credentialsOf: (request: FastifyRequest) => Credentials
  /** Whether the caller may do it; asked before the body is read. */
  readonly authorise?: (
    request: FastifyRequest,
    name: AdminOperationName,
  ) => WireErrorCode | undefined
  /** Whether the caller has to confirm it, and by what it is confirmed; asked when all else about the request is well. */
  readonly confirm?: (
    request: FastifyRequest,
    reply: FastifyReply,
    name: AdminOperationName,
    asked: AskedFields,
  ) => Promise<Confirmation>
}

/** The fields of a request whose form is well. */
export type AskedFields = Readonly<Record<string, unknown>>

/** `by` is undefined for what nobody has to confirm. */
export type Confirmation =
  | { readonly by: string | undefined }
  | { readonly refusal: WireErrorCode; readonly waitMs?: number }

/** Some replies hold a new token, and all replies hold what is true only now. */
export const ADMIN_HEADERS: Readonly<Record<string, string>> = { 'cache-control': 'no-store' }

export function addAdminRoutes({ app }: HttpPort, options: AdminRoutesOptions): void {
  for (const name of ADMIN_OPERATION_NAMES) {
    const operation = ADMIN_OPERATIONS[name]
    const room = bodyRoomOf(operation)
    app.route({
      method: operation.method,
      url: operation.path,
      bodyLimit: room.bytesMax,
      config: { room },
      onRequest: async (request, reply) => {
        const refusal = options.authorise?.(request, name)
        if (refusal !== undefined) return sendRefusal(reply, refusal, describeRefusal(refusal))
        return undefined
      },
      handler: (request, reply) => perform(options, name, request, reply),
    })
  }
}

/** What a port of agents says by its code alone. */
export function describeRefusal(refusal: WireErrorCode): AdminErrorBody {
  const [first = '', ...rest] = WIRE_ERRORS[refusal].when.replace(/\.$/, '')
  return { error: refusal, message: first.toLowerCase() + rest.join('') }
}

async function perform(
  options: AdminRoutesOptions,
  name: AdminOperationName,
  request: FastifyRequest,
  reply: FastifyReply,
): Promise<FastifyReply> {
  const operation = ADMIN_OPERATIONS[name]
  const asked =
    operation.method === 'GET'
      ? readQuery(operation.request, request.query)
      : withFields(
          withIfMatch(operation.request, request.body, request.headers['if-match']),
          request.params,
        )
  const fault = findAdminRequestFault(name, asked)
  if (fault !== undefined) return answer(reply, 400, { error: 'request_invalid', ...fault })
  const key = readIdempotencyKey(request.headers['idempotency-key'])
  if (key instanceof AdminRefusal) return answerError(options.log, name, request, reply, key)
  const confirmation = await findConfirmation(options, name, asked as AskedFields, request, reply)
  if ('refusal' in confirmation) {
    const { refusal, waitMs = 0 } = confirmation
    const body = describeRefusal(refusal)
    return waitMs > 0 ? sendRateLimited(reply, waitMs, body) : sendRefusal(reply, refusal, body)
  }
  const { actor, role, only = null, session, token, credential } = options.credentialsOf(request)
  const idempotency = key === undefined ? undefined : { credential, key }
  try {
    const caller = { actor, role, only, session, token, confirmedBy: confirmation.by, idempotency }
    // Agents come between the parts of what a person waits for: docs/protocol.md LIM-81.
    await nextTurn()
    const done = await options.performOperation(name, asked as object, caller)
    await nextTurn()
    if ('dry_run' in done) return answer(reply, 200, done)
    const tag = entityTagOf(operation, done)
    if (tag !== undefined) reply.header('etag', `"${tag}"`)
    return answer(reply, operation.status ?? 200, done)
  } catch (error) {
    return answerError(options.log, name, request, reply, error)
  }
}

/** What is only rehearsed needs none. */
async function findConfirmation(
  { confirm }: AdminRoutesOptions,
  name: AdminOperationName,
  asked: AskedFields,
  request: FastifyRequest,
  reply: FastifyReply,
): Promise<Confirmation> {
  const isRehearsal = asked['dry_run'] === true
  if (confirm === undefined || isRehearsal) return { by: undefined }
  return confirm(request, reply, name, asked)
}

/** Fields of the path win; the check of its shape refuses a body that is not an object. */
function withFields(body: unknown, fields: unknown): unknown {
  const isObject = typeof body === 'object' && body !== null && !Array.isArray(body)
  return isObject ? { ...body, ...(fields as object) } : body
}

function answerError(
  log: Logger,
  operation: AdminOperationName,
  request: FastifyRequest,
  reply: FastifyReply,
  error: unknown,
): FastifyReply {
  const fields = { ...requestFields(request), operation, reason: describeError(error) }
  if (error instanceof AdminRefusal) {
    const { code, message, details } = error
    const { status } = ADMIN_ERRORS[code as AdminErrorCode]
    return answer(reply, status, { error: code, message, ...(details && { details }) })
  }
  if (error instanceof SvcError) {
    const { code, message } = error
    log.warn({ ...fields, code }, 'Admin operation failed')
    reply.header('retry-after', 5)
    return answer(reply, 503, { error: code, message })
  }
  log.error({ ...fields, err: error }, 'Internal error in an admin operation')
  return answer(reply, 500, { error: 'internal_error', message: 'internal error in the hub' })
}

function answer(reply: FastifyReply, status: number, body: object): FastifyReply {
  return reply.code(status).type('application/json').send(inSlices(body))
}
