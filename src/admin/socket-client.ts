// The admin operations of a running hub, one request each. Connections are not kept: while stdout blocks on a pager
// nobody would notice that the hub has closed an idle one.

import { request as httpRequest, type IncomingMessage } from 'node:http'
import { connect } from 'node:net'
import { describeError, errnoCode, SvcError, UserError } from '../platform/errors.ts'
import { openSocketPath } from '../platform/unix-socket.ts'
import type { AdminErrorBody, AdminOperationName, AdminOperations } from '../protocol/admin.ts'
import { fillAdminPath } from '../protocol/admin-paths.ts'
import { ADMIN_ROUTES } from '../protocol/admin-routes.ts'
import type { AdminSession } from './admin-session.ts'

const CONNECT_TIMEOUT_MS = 2000
const REQUEST_TIMEOUT_MS = 60_000
const REPLY_BYTES_MAX = 256 * 1024 * 1024

/** Undefined when nobody listens on the socket. */
export async function connectToHub(socketPath: string): Promise<AdminSession | undefined> {
  const names = Object.keys(ADMIN_ROUTES) as AdminOperationName[]
  if (!(await isAnswered(socketPath))) return undefined
  const operations = Object.fromEntries(
    names.map((name) => [
      name,
      (request: Readonly<Record<string, unknown>>) => callHub(socketPath, name, request),
    ]),
  ) as unknown as AdminOperations
  return { operations, isThroughHub: true, close: () => Promise.resolve() }
}

async function isAnswered(socketPath: string): Promise<boolean> {
  const address = openSocketPath(socketPath)
  try {
    return await new Promise<boolean>((resolve, reject) => {
      const socket = connect({ path: address.path, timeout: CONNECT_TIMEOUT_MS })
      const finish = (isOpen: boolean): void => {
        socket.destroy()
        resolve(isOpen)
      }
      socket.once('connect', () => finish(true))
      socket.once('timeout', () => finish(false))
      socket.once('error', (error) => {
        if (isNobodyThere(error)) finish(false)
        else reject(unreachable(socketPath, error))
      })
    })
  } finally {
    address.release()
  }
}

function isNobodyThere(error: Error): boolean {
  return ['ENOENT', 'ECONNREFUSED', 'EAGAIN'].includes(errnoCode(error) ?? '')
}

async function callHub(
  socketPath: string,
  name: AdminOperationName,
  request: Readonly<Record<string, unknown>>,
): Promise<unknown> {
  const address = openSocketPath(socketPath)
  try {
    const reply = await exchange(address.path, name, request)
    const body = parseReply(reply.text)
    if (reply.status < 300) return body
    throw errorOfReply(reply.status, body as AdminErrorBody)
  } catch (error) {
    throw error instanceof SvcError ? error : unreachable(socketPath, error)
  } finally {
    address.release()
  }
}

interface HubReply {
  readonly status: number
  readonly text: string
}

function exchange(
  socketPath: string,
  name: AdminOperationName,
  request: Readonly<Record<string, unknown>>,
): Promise<HubReply> {
  const { method, path: pattern } = ADMIN_ROUTES[name]
  const { path, body: rest } = fillAdminPath(pattern, request)
  const content = method === 'GET' ? '' : JSON.stringify(rest)
  return new Promise((resolve, reject) => {
    const outgoing = httpRequest({
      socketPath,
      method,
      path,
      agent: false,
      signal: AbortSignal.timeout(REQUEST_TIMEOUT_MS),
      headers: {
        'content-type': 'application/json',
        'content-length': Buffer.byteLength(content),
      },
    })
    outgoing.once('error', reject)
    outgoing.once('response', (response) => {
      readReply(response).then(
        (text) => resolve({ status: response.statusCode ?? 0, text }),
        reject,
      )
    })
    outgoing.end(content)
  })
}

async function readReply(response: IncomingMessage): Promise<string> {
  const chunks: Buffer[] = []
  let bytes = 0
  for await (const chunk of response) {
    const buffer = chunk as Buffer
    bytes += buffer.length
    if (bytes > REPLY_BYTES_MAX)
      throw new SvcError('reply_too_large', 'the hub’s reply is too large')
    chunks.push(buffer)
  }
  return Buffer.concat(chunks).toString('utf8')
}

function parseReply(text: string): unknown {
  try {
    return JSON.parse(text) as unknown
  } catch (error) {
    throw new SvcError('reply_invalid', 'the hub’s reply is not JSON', { cause: error })
  }
}

function errorOfReply(status: number, { error, message, hint }: AdminErrorBody): SvcError {
  const options = hint === undefined ? {} : { hint }
  return status < 500
    ? new UserError(error, message, options)
    : new SvcError(error, message, options)
}

function unreachable(socketPath: string, error: unknown): SvcError {
  if (errnoCode(error) === 'EACCES') {
    return new UserError('permission_denied', `${socketPath}: permission denied`, {
      hint: 'run svc as the owner of the vault, or as root',
    })
  }
  if (error instanceof Error && error.name === 'AbortError') {
    return new SvcError('hub_timeout', 'the hub did not answer in time', { cause: error })
  }
  return new SvcError(
    'hub_unreachable',
    `the connection to the hub at ${socketPath} broke: ${describeError(error)}`,
    {
      cause: error,
      hint: 'the operation may have been done; look before you repeat it',
    },
  )
}
