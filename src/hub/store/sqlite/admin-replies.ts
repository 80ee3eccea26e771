import type { SealedReply } from '../../domain/admin-reply.ts'
import type { SqlSession } from './sql-session.ts'

export function selectReply(session: SqlSession, id: string, now: Date): SealedReply | undefined {
  const row = session.get<{ resposta: Uint8Array; expires_at: number }>(
    'SELECT resposta, expires_at FROM admin_respostas WHERE id = ? AND expires_at > ?',
    id,
    now.getTime(),
  )
  return row && { id, sealed: row.resposta, expiresAt: new Date(row.expires_at) }
}

export function insertReply(session: SqlSession, reply: SealedReply, now: Date): void {
  session.run('DELETE FROM admin_respostas WHERE expires_at <= ?', now.getTime())
  session.run(
    'INSERT INTO admin_respostas (id, resposta, expires_at) VALUES (?, ?, ?)',
    reply.id,
    reply.sealed,
    reply.expiresAt.getTime(),
  )
}
