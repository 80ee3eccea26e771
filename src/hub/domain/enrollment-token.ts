import type { AgentId, Hostname, TokenHash } from '../../protocol/identifiers.ts'

export interface EnrollmentToken {
  readonly hash: TokenHash
  readonly expectedHostname: Hostname
  readonly expectedRole: string
  readonly createdAt: Date
  readonly expiresAt: Date
  readonly consumedAt: Date | null
  /** Made with `--reenroll`: it may enrol a host that is enrolled already. */
  readonly isReenrollment: boolean
  /** How often it came with another hostname or role. */
  readonly mismatches: number
  readonly replay: EnrollmentReplay | null
}

/** What the request that consumed a token was, and what it was answered. */
export interface EnrollmentReplay {
  /** SHA-256 over hostname, role, CSR and idempotency key, hex. */
  readonly fingerprint: string
  readonly agentId: AgentId
  readonly certificatePem: string
}
