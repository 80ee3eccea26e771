import type { AgentId, Hostname, TokenHash } from '../../protocol/identifiers.ts'

export interface Agent {
  readonly id: AgentId
  readonly hostname: Hostname
  readonly role: string
  /** The token of its last enrolment. */
  readonly enrolledWith: TokenHash
  readonly createdAt: Date
  readonly lastSeenAt: Date | null
  readonly revokedAt: Date | null
  /** Only a revoked agent is removed; its row stays for the history. */
  readonly removedAt: Date | null
  /** The newest identity (by `IssuedCertificate.seq`) that was ever used, and since when; null before the first use. */
  readonly activeIdentity: { readonly seq: number; readonly since: Date } | null
}
