import type { AdminSession } from '../../../../protocol/admin/sessions.ts'
import type { AccessToken } from '../../../domain/access-token.ts'
import { idleEnd, type Session, sessionIdOf } from '../../../domain/session.ts'

export function toAdminSession(session: Session, token: AccessToken): AdminSession {
  return {
    id: sessionIdOf(session),
    name: token.name,
    role: token.role,
    only: token.only,
    address: session.address,
    started_at: session.startedAt.toISOString(),
    last_used_at: session.lastUsedAt.toISOString(),
    idle_ends_at: idleEnd(session).toISOString(),
    ends_at: session.endsAt.toISOString(),
  }
}

/** What entries say of a session. */
export function describeSession(
  session: Session,
  token: AccessToken,
): Readonly<Record<string, string>> {
  return {
    session_id: sessionIdOf(session),
    name: token.name,
    role: token.role,
    address: session.address,
  }
}
