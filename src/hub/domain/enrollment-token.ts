import type { Hostname, TokenHash } from '../../protocol/identifiers.ts'

export interface EnrollmentToken {
  readonly hash: TokenHash
  readonly expectedHostname: Hostname
  readonly expectedRole: string
  readonly createdAt: Date
  readonly expiresAt: Date
  readonly consumedAt: Date | null
  /** Made with `--reenroll`: it may enrol a host that is enrolled already. */
  readonly isReenrollment: boolean
}
