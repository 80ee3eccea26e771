// The admin operations on a Unix socket in the vault directory. Whoever can open the socket may do everything: its mode
// lets in the vault's owner and root, nobody else.

import { chmod, mkdir, rename, rm, rmdir } from 'node:fs/promises'
import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http'
import { dirname, join } from 'node:path'
import { describeError, SvcError, UserError } from '../../platform/errors.ts'
import type { Logger, Logging } from '../../platform/logger.ts'
import { openSocketPath } from '../../platform/unix-socket.ts'
import {
  ADMIN_OPERATIONS,
  type AdminErrorBody,
  type AdminOperationName,
  type AdminOperations,
} from '../../protocol/admin.ts'
import { matchAdminPath } from '../../protocol/admin-paths.ts'
import { findAdminRequestFault } from '../../protocol/admin-requests.ts'
import { ADMIN_ROUTES, type AdminRoute } from '../../protocol/admin-routes.ts'
import { trackConnections } from './track-connections.ts'

export interface AdminServerOptions {
  readonly socketPath: string
  readonly operations: AdminOperations
  readonly logging: Logging
}

export interface AdminServer {
  /** Finishes what is under way, and no connection is kept; then the socket is gone. */
  close(): Promise<void>
}

/** Room for a sealed file, in base64. */
const BODY_BYTES_MAX = 16 * 1024 * 1024
const CONNECTIONS_MAX = 128
const HEADERS_TIMEOUT_MS = 10_000
const REQUEST_TIMEOUT_MS = 15_000
const CLOSE_TIMEOUT_MS = 10_000

/** Only for the holder of `vault.lock`: a socket that is there already is a dead hub's, and is replaced. */
export async function startAdminServer(options: AdminServerOptions): Promise<AdminServer> {
  const log = options.logging.forModule('hub.admin')
  const server = createServer(
    { headersTimeout: HEADERS_TIMEOUT_MS, requestTimeout: REQUEST_TIMEOUT_MS },
    (request, response) => {
      connections.begin(request.socket)
      response.once('close', () => {
        connections.finish(request.socket)
        if (!server.listening) connections.cutIdle()
      })
      serve(options.operations, log, request, response).catch((error: unknown) => {
        log.debug({ reason: describeError(error) }, 'Admin client went away')
        response.destroy()
      })
    },
  )
  const connections = trackConnections(server, false)
  server.maxConnections = CONNECTIONS_MAX
  await bindPrivately(server, options.socketPath)
  server.on('error', (error) => log.error({ reason: describeError(error) }, 'Admin socket failed'))
  return {
    close: async () => {
      await rm(options.socketPath, { force: true })
      connections.cutIdle()
      await closeServer(server)
    },
  }
}

/** Binds inside a directory that only we can enter, so that the socket has its mode before anyone can reach it. */
async function bindPrivately(server: Server, socketPath: string): Promise<void> {
  const stagingDirectory = `${socketPath}.new`
  const staged = join(stagingDirectory, 's')
  try {
    await rm(stagingDirectory, { recursive: true, force: true })
    await mkdir(stagingDirectory, { mode: 0o700 })
    await listen(server, staged)
    await chmod(staged, 0o600)
    await rename(staged, socketPath)
    await rmdir(stagingDirectory)
  } catch (error) {
    server.close()
    const reason = describeError(error)
    throw new SvcError('admin_socket_failed', `cannot listen on ${socketPath}: ${reason}`, {
      cause: error,
      hint: `check the owner and mode of ${dirname(socketPath)}`,
    })
  }
}

async function listen(server: Server, path: string): Promise<void> {
  const address = openSocketPath(path)
  try {
    await new Promise<void>((resolve, reject) => {
      server.once('error', reject)
      server.listen(address.path, () => {
        server.off('error', reject)
        resolve()
      })
    })
  } finally {
    address.release()
  }
}

async function closeServer(server: Server): Promise<void> {
  const deadline = AbortSignal.timeout(CLOSE_TIMEOUT_MS)
  deadline.addEventListener('abort', () => server.closeAllConnections())
  await new Promise<void>((resolve) => {
    server.close(() => resolve())
  })
}

interface Answer {
  readonly status: number
  readonly body: object
}

async function serve(
  operations: AdminOperations,
  log: Logger,
  request: IncomingMessage,
  response: ServerResponse,
): Promise<void> {
  const body = await readBody(request)
  const answer =
    body === undefined
      ? refusal(413, 'body_too_large', `the request is over ${BODY_BYTES_MAX} bytes`)
      : await perform(operations, log, request, body)
  const text = JSON.stringify(answer.body)
  response.writeHead(answer.status, {
    'content-type': 'application/json',
    'content-length': Buffer.byteLength(text),
    ...(body === undefined ? { connection: 'close' } : {}),
  })
  response.end(text)
}

async function perform(
  operations: AdminOperations,
  log: Logger,
  request: IncomingMessage,
  body: string,
): Promise<Answer> {
  const matches = findOperations(request.url ?? '')
  const match = matches.find(({ name }) => ADMIN_OPERATIONS[name].method === request.method)
  if (match === undefined) {
    return matches.length > 0
      ? refusal(405, 'method_not_allowed', `${request.method} is not for ${request.url}`)
      : refusal(404, 'route_not_found', `this hub has no operation ${request.url}`)
  }
  const { name, fields } = match
  const parsed = parseJson(body)
  if (parsed === undefined) return refusal(400, 'json_invalid', 'the request is not JSON')
  const value = withFields(parsed.value, fields)
  const fault = findAdminRequestFault(name, value)
  if (fault !== undefined) return refusal(400, 'request_invalid', fault)
  try {
    const operation = operations[name] as (checked: unknown) => Promise<object>
    const reply = await operation(value)
    log.debug({ operation: name }, 'Admin operation done')
    return { status: routeOf(name).status ?? 200, body: reply }
  } catch (error) {
    return answerOfError(log, name, error)
  }
}

interface OperationMatch {
  readonly name: AdminOperationName
  readonly fields: Readonly<Record<string, string>>
}

/** Those at this path, each for a method of its own. */
function findOperations(path: string): OperationMatch[] {
  const names = Object.keys(ADMIN_OPERATIONS) as AdminOperationName[]
  return names.flatMap((name) => {
    const fields = matchAdminPath(routeOf(name).path, path)
    return fields === undefined ? [] : [{ name, fields }]
  })
}

function routeOf(name: AdminOperationName): AdminRoute {
  return ADMIN_ROUTES[name]
}

/** A body that is no object is left to the check of its shape. */
function withFields(value: unknown, fields: Readonly<Record<string, string>>): unknown {
  const isObject = typeof value === 'object' && value !== null && !Array.isArray(value)
  return isObject ? { ...value, ...fields } : value
}

function answerOfError(log: Logger, operation: AdminOperationName, error: unknown): Answer {
  if (error instanceof UserError) {
    const status = routeOf(operation).refusals?.[error.code] ?? 400
    return refusal(status, error.code, error.message, error.hint)
  }
  const reason = describeError(error)
  if (error instanceof SvcError) {
    log.warn({ operation, code: error.code, reason }, 'Admin operation failed')
    return refusal(503, error.code, error.message, error.hint)
  }
  const stack = error instanceof Error ? error.stack : undefined
  log.error({ operation, reason, stack }, 'Admin operation broke')
  return refusal(500, 'internal_error', 'internal error in the hub', 'the hub’s log says more')
}

function refusal(status: number, error: string, message: string, hint?: string): Answer {
  const body: AdminErrorBody = { error, message, ...(hint === undefined ? {} : { hint }) }
  return { status, body }
}

/** Undefined when the body is over the limit; the rest of it is dropped. */
async function readBody(request: IncomingMessage): Promise<string | undefined> {
  const chunks: Buffer[] = []
  let bytes = 0
  for await (const chunk of request.iterator({ destroyOnReturn: false })) {
    const buffer = chunk as Buffer
    bytes += buffer.length
    if (bytes > BODY_BYTES_MAX) {
      request.resume()
      return undefined
    }
    chunks.push(buffer)
  }
  return Buffer.concat(chunks).toString('utf8')
}

/** No body at all is the empty request, as a GET sends it. */
function parseJson(text: string): { readonly value: unknown } | undefined {
  if (text === '') return { value: {} }
  try {
    return { value: JSON.parse(text) as unknown }
  } catch {
    return undefined
  }
}
