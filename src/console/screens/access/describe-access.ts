// What an admin token is now.

import type { AdminReplies } from '../../api/operations.ts'

type AdminToken = AdminReplies['listAccessTokens']['admin_tokens'][number]
export type AdminTokenState = 'good' | 'expired' | 'revoked'

export function stateOfAdminToken(
  { revoked_at: revokedAt, expires_at: end }: Pick<AdminToken, 'revoked_at' | 'expires_at'>,
  nowMs: number,
): AdminTokenState {
  if (revokedAt !== null) return 'revoked'
  return Date.parse(end) <= nowMs ? 'expired' : 'good'
}
