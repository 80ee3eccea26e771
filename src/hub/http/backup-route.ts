import type { FastifyReply, FastifyRequest } from 'fastify'
import { describeError, SvcError } from '../../platform/errors.ts'
import type { Logger } from '../../platform/logger.ts'
import { BACKUP_ROUTE } from '../../protocol/admin/backup-route.ts'
import { ADMIN_ERRORS, type AdminErrorBody } from '../../protocol/admin/errors.ts'
import type { BackupMaker } from '../backup/make-backup.ts'
import { AdminRefusal } from '../service/admin-act.ts'
import type { HttpPort } from './http-port.ts'

/** A backup in one answer, whose length is known from its first byte on. docs/protocol.md BKP-6. */
export function addBackupRoute({ app }: HttpPort, backups: BackupMaker, log: Logger): void {
  app.route({
    method: BACKUP_ROUTE.method,
    url: BACKUP_ROUTE.path,
    handler: async (request, reply) => {
      try {
        const { byteCount, stream } = await backups.begin('admin')
        // A caller that has gone before the first byte is not waited for.
        request.raw.socket.once('close', () => stream.destroy())
        return await reply
          .type('application/octet-stream')
          .header('content-length', byteCount)
          .send(stream)
      } catch (error) {
        return answerError(log, request, reply, error)
      }
    },
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
  const fields = { request_id: request.id, code: error.code, reason: describeError(error) }
  log.warn(fields, 'Backup not begun')
  const body: AdminErrorBody = { error: error.code, message: error.message }
  return reply.code(503).header('retry-after', 5).send(body)
}
