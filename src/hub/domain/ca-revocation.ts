import type { AgentId, Hostname } from '../../protocol/identifiers.ts'
import type { CertificatePurpose } from './issued-certificate.ts'

/** A certificate that is revoked here and not at the CA, which has it until it expires. */
export interface CaRevocation {
  /** Of the leaf's DER, lower-case hex. */
  readonly sha256: string
  /** Lower-case hex. */
  readonly serial: string
  readonly purpose: CertificatePurpose
  readonly agentId: AgentId
  /** Of its agent, which may have been removed, or enrolled again, since. */
  readonly hostname: Hostname
  readonly revokedAt: Date
  readonly notAfter: Date
  /** When the CA said that it never will; it is asked again only when an operator revokes once more. */
  readonly refusedAt: Date | null
  /** Why it is not done: the refusal, or the last failure. */
  readonly reason: string | null
}

/** Of one agent's certificates that have not expired. */
export interface CaRevocationSummary {
  readonly waiting: number
  readonly refused: number
  /** The one that was told last of a certificate that waits, else of one that was refused. */
  readonly reason: string | null
}
