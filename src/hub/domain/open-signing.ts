// A request to the CA whose outcome the audit log does not say yet. docs/protocol.md EVD-16.

import type { AgentId, JoinRuleId, TokenHash } from '../../protocol/identifiers.ts'

/** What the hub wanted a certificate for. */
export type SigningPurpose =
  | 'enrollment'
  | 'renewal'
  | 'recovery'
  | 'delivery'
  /** Of the hub's own ports. */
  | 'server'
  /** Of a life that a politica is to promise: POL-19. */
  | 'trial'

export interface OpenSigning {
  readonly id: string
  readonly askedAt: Date
  /** Who asks; null for a hub that has its vault to itself. */
  readonly hubId: string | null
  /** The token that the certificate will spend: one request at a time. */
  readonly tokenHash: TokenHash | null
  /** The rule that the token is derived from, of whose places the request holds one. */
  readonly joinRuleId: JoinRuleId | null
  readonly request: SigningPurpose
  /** Unknown for a host that is not enrolled yet. */
  readonly agentId: AgentId | null
  /** The host that it is for; null for the hub itself. */
  readonly hostname: string | null
  /** All names that the certificate has. */
  readonly names: readonly string[]
  readonly csrSha256: string
  /** SHA-256 of the SubjectPublicKeyInfo, by which the certificate is known whatever its serial. */
  readonly keySha256: string
}
