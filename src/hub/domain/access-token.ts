import type { AdminRole } from '../../protocol/admin/roles.ts'
import type { TokenHash } from '../../protocol/identifiers.ts'

/** What opens the admin port: an admin token, as the wire calls it. */
export interface AccessToken {
  readonly hash: TokenHash
  /** Who acts, in the audit log. Only one good token has this name. */
  readonly name: string
  readonly role: AdminRole
  /** The selector of the hosts that it sees and touches; null for all. */
  readonly only: string | null
  readonly createdAt: Date
  readonly expiresAt: Date
  readonly lastUsedAt: Date | null
  readonly revokedAt: Date | null
  /** When the hub first had it down that its time was over. */
  readonly endedAt: Date | null
}

/** Expired at the very instant of its expiry; what was revoked or has ended is so whatever the clock says. */
export function isGood({ revokedAt, endedAt, expiresAt }: AccessToken, now: Date): boolean {
  return revokedAt === null && endedAt === null && expiresAt > now
}
