import type { AdminRole } from '../../protocol/admin/roles.ts'
import type { TokenHash } from '../../protocol/identifiers.ts'

/** What opens the admin port: an admin token, as the wire calls it. */
export interface AccessToken {
  readonly hash: TokenHash
  /** Who acts, in the audit log. Only one good token has this name, or the good tokens of one person. */
  readonly name: string
  /** Whom an OpenID provider signed in; null for a token that an operator made. docs/protocol.md OID-7. */
  readonly person: Person | null
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

/** Somebody whom an OpenID provider knows: both together are one person for good, whatever the person is called. */
export interface Person {
  readonly issuer: string
  readonly subject: string
}

export function isSamePerson(one: Person | null, other: Person): boolean {
  return one !== null && personKeyOf(one) === personKeyOf(other)
}

/** An issuer that is a host alone is the same with a final slash and without: operators change it, and providers differ. */
export function spellingsOf(issuer: string): readonly string[] {
  if (new URL(issuer).pathname !== '/') return [issuer]
  const bare = issuer.replace(/\/$/, '')
  return [bare, `${bare}/`]
}

/** Whose share of sessions and streams a token takes of: those of a person are counted together. */
export function holderOf({ hash, person }: Pick<AccessToken, 'hash' | 'person'>): string {
  return person === null ? hash : personKeyOf(person)
}

/** Of no other person. */
export function personKeyOf({ issuer, subject }: Person): string {
  const [spelled = issuer] = spellingsOf(issuer)
  return `${spelled}\n${subject}`
}

/** Expired at the very instant of its expiry; what was revoked or has ended is so whatever the clock says. */
export function isGood({ revokedAt, endedAt, expiresAt }: AccessToken, now: Date): boolean {
  return revokedAt === null && endedAt === null && expiresAt > now
}
