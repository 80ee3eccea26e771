import type { OutgoingHttpHeaders, ServerResponse } from 'node:http'
import type { Socket } from 'node:net'
import type { Readable } from 'node:stream'
import type { FastifyReply, FastifyRequest } from 'fastify'
import { discardTaken } from '../../platform/discard-bytes.ts'
import { describeError, SvcError } from '../../platform/errors.ts'
import type { Logger } from '../../platform/logger.ts'
import { BACKUP_ROUTE } from '../../protocol/admin/backup-route.ts'
import { ADMIN_ERRORS, type AdminErrorBody } from '../../protocol/admin/errors.ts'
import type { BackupMaker } from '../backup/make-backup.ts'
import { AdminRefusal } from '../service/admin-act.ts'
import type { HttpPort } from './http-port.ts'
import { requestFields } from './request-trace.ts'

/** A backup in one answer, whose length is known from its first byte on. docs/protocol.md BKP-6. */
export function addBackupRoute({ app }: HttpPort, backups: BackupMaker, log: Logger): void {
  app.route({
    method: BACKUP_ROUTE.method,
    url: BACKUP_ROUTE.path,
    handler: async (request, reply) => {
      try {
        const { byteCount, stream } = await backups.begin('admin')
        reply.type('application/octet-stream').header('content-length', byteCount).hijack()
        reply.raw.writeHead(200, reply.getHeaders() as OutgoingHttpHeaders)
        await sendPieces(stream, reply.raw, request.raw.socket)
        return reply
      } catch (error) {
        return answerError(log, request, reply, error)
      }
    },
  })
}

/** Each piece leaves the memory when it was written, which a pipe would not tell. */
async function sendPieces(
  stream: Readable,
  response: ServerResponse,
  socket: Socket,
): Promise<void> {
  // A caller that has gone is not waited for, and neither is one that reads too slowly.
  socket.once('close', () => stream.destroy())
  stream.once('error', () => socket.destroy())
  try {
    for await (const piece of discardTaken(stream)) await writeWhole(response, piece)
    response.end()
  } catch {
    // The caller knows it by the length; who made the backup has logged why.
    socket.destroy()
  }
}

function writeWhole(response: ServerResponse, piece: Buffer): Promise<void> {
  return new Promise((resolve, reject) => {
    response.write(piece, (error) => (error ? reject(error) : resolve()))
  })
}

function answerError(
  log: Logger,
  request: FastifyRequest,
  reply: FastifyReply,
  error: unknown,
): FastifyReply {
  if (error instanceof AdminRefusal) {
    const body: AdminErrorBody = { error: error.code, message: error.message }
    return reply.code(ADMIN_ERRORS.backup_running.status).send(body)
  }
  if (!(error instanceof SvcError)) throw error
  const fields = { ...requestFields(request), code: error.code, reason: describeError(error) }
  log.warn(fields, 'Backup not begun')
  const body: AdminErrorBody = { error: error.code, message: error.message }
  return reply.code(503).header('retry-after', 5).send(body)
}
