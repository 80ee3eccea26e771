import { type IncomingMessage, request as httpRequest } from 'node:http'
import { openSocketPath } from '../../platform/unix-socket.ts'
import { BACKUP_ROUTE } from '../../protocol/admin/backup-route.ts'
import type { AdminErrorBody } from '../../protocol/admin/errors.ts'
import { SvcError, UserError } from '../../platform/errors.ts'
import { parseReply, traceHeaders } from './hub-calls.ts'
import { HubBusy } from './hub-busy.ts'

const ERROR_BYTES_MAX = 64 * 1024

/** The bytes of a backup that the hub makes. docs/protocol.md BKP-6. */
export async function openBackupOf(socketPath: string): Promise<AsyncIterable<Uint8Array>> {
  const address = openSocketPath(socketPath)
  try {
    const response = await new Promise<IncomingMessage>((resolve, reject) => {
      const headers = { ...traceHeaders(), 'content-type': 'application/json', 'content-length': 2 }
      const { method, path } = BACKUP_ROUTE
      const options = { socketPath: address.path, method, path, headers, agent: false }
      const request = httpRequest(options)
      request.once('response', resolve)
      request.once('error', reject)
      request.end('{}')
    })
    if (response.statusCode === 200) return piecesOf(response)
    throw await readRefusal(response)
  } finally {
    address.release()
  }
}

async function* piecesOf(response: IncomingMessage): AsyncGenerator<Uint8Array, void> {
  try {
    for await (const piece of response) yield piece as Buffer
  } catch (error) {
    throw new SvcError('backup_given_up', 'the hub gave up the backup before its end', {
      cause: error,
      hint: 'the log of the hub says why',
    })
  }
}

async function readRefusal(response: IncomingMessage): Promise<SvcError> {
  let text = ''
  response.setEncoding('utf8')
  for await (const piece of response) {
    text += String(piece)
    if (text.length > ERROR_BYTES_MAX) break
  }
  const { error, message } = parseReply(text) as AdminErrorBody
  if (error === 'route_not_found') {
    return new UserError(error, 'this hub makes no backups', {
      hint: 'the hub is older than this svc; stop it, and svc makes the backup itself',
    })
  }
  if (error === 'backup_running') {
    return new UserError(error, message, { hint: 'try again when it is done' })
  }
  const retryAfter = response.headers['retry-after']
  return new HubBusy(error, message, { retryAfter })
}
