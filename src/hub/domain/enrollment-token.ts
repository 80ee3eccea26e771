import type { AgentId, Hostname, JoinRuleId, TokenHash } from '../../protocol/identifiers.ts'
import type { Labels } from '../../protocol/labels.ts'

export interface EnrollmentToken {
  readonly hash: TokenHash
  readonly expectedHostname: Hostname
  readonly expectedRole: string
  /** What the host gets when it enrols, beside the labels that it has. */
  readonly labels: Labels
  readonly createdAt: Date
  readonly expiresAt: Date
  readonly consumedAt: Date | null
  /** Revoked, tried with other names too often, or seen to be expired: permanently, also when somebody sets the clock back. */
  readonly endedAt: Date | null
  /** Made with `--reenroll`: it may enrol a host that is enrolled already. */
  readonly isReenrollment: boolean
  /** Made with an admin token of role operator: it enrols again only what the politica leaves to operators. */
  readonly isOperators: boolean
  /** How often it came with another hostname or role. */
  readonly mismatches: number
  /** The rule that the token was derived from; null for a token that somebody made for its host. */
  readonly joinRuleId: JoinRuleId | null
  readonly replay: EnrollmentReplay | null
}

/** Whether it can still be used. */
export function isOpen(
  { consumedAt, endedAt, expiresAt }: Pick<EnrollmentToken, 'consumedAt' | 'endedAt' | 'expiresAt'>,
  now: Date,
): boolean {
  return consumedAt === null && endedAt === null && expiresAt > now
}

/** The token expires at that instant, permanently. */
export function endToken(token: EnrollmentToken, at: Date): EnrollmentToken {
  return { ...token, expiresAt: at, endedAt: at }
}

/** What the request that consumed a token was, and what it was answered. */
export interface EnrollmentReplay {
  /** SHA-256 over hostname, role, CSR, idempotency key and recipient, hex. */
  readonly fingerprint: string
  readonly agentId: AgentId
  readonly certificatePem: string
}
