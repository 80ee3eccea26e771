// The admin operations of a running hub, through the Unix socket in its vault's directory.

import { request as httpRequest } from 'node:http'
import { connect } from 'node:net'
import { describeError, errnoCode, SvcError, UserError } from '../../platform/errors.ts'
import { openSocketPath } from '../../platform/unix-socket.ts'
import { type AdminOperationName, operationsBy } from '../../protocol/admin/operations.ts'
import type { AdminErrorBody } from '../../protocol/admin/errors.ts'
import type { AdminSession } from './admin-session.ts'
import { errorOfReply, exchange, parseReply } from './hub-calls.ts'
import { type ChangesDoor, openChangeStream, type OpenChanges } from './hub-changes.ts'
import { openBackupOf } from './socket-backup.ts'

const CONNECT_TIMEOUT_MS = 2000

/** Undefined when no process listens on the socket. */
export async function connectToHub(
  socketPath: string,
  timeoutMs?: number,
): Promise<AdminSession | undefined> {
  if (!(await isAnswered(socketPath))) return undefined
  const operations = operationsBy((name, request) => callHub(socketPath, name, request, timeoutMs))
  return {
    operations,
    isThroughHub: true,
    openChanges: (after, signal) => openChangesOf(socketPath, after, signal),
    openBackup: async () => {
      try {
        return await openBackupOf(socketPath)
      } catch (error) {
        throw error instanceof SvcError ? error : unreachable(socketPath, error)
      }
    },
    close: () => Promise.resolve(),
  }
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

async function openChangesOf(
  socketPath: string,
  after: number,
  signal: AbortSignal,
): ReturnType<OpenChanges> {
  const address = openSocketPath(socketPath)
  const door: ChangesDoor = {
    begin: (options) => httpRequest({ ...options, socketPath: address.path }),
    refuse: ({ status, headers, text }) => {
      const body = parseReply(text) as AdminErrorBody
      return errorOfReply('listEntries', {}, status, body, headers['retry-after'])
    },
    explain: (error) => unreachable(socketPath, error),
  }
  try {
    return await openChangeStream(door, after, signal)
  } finally {
    address.release()
  }
}

async function callHub(
  socketPath: string,
  name: AdminOperationName,
  request: object,
  timeoutMs: number | undefined,
): Promise<unknown> {
  const address = openSocketPath(socketPath)
  try {
    const reply = await exchange(
      (options) => httpRequest({ ...options, socketPath: address.path }),
      name,
      request,
      timeoutMs,
    )
    const body = parseReply(reply.text)
    if (reply.status < 300) return body
    const retryAfter = reply.headers['retry-after']
    throw errorOfReply(name, request, reply.status, body as AdminErrorBody, retryAfter)
  } catch (error) {
    throw error instanceof SvcError ? error : unreachable(socketPath, error)
  } finally {
    address.release()
  }
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
      hint: 'the hub may have done the operation; look before you repeat it',
    },
  )
}
