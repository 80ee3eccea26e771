import type { AgentId, DeliveryId } from '../../protocol/identifiers.ts'

/** `identity` opens port 8443; `delivery` is for a service on the host and never does. */
export type CertificatePurpose = 'identity' | 'delivery'

/** A certificate that the hub obtained from the CA. */
export interface IssuedCertificate {
  /** Commit order: of two identities of one agent the greater one is newer. */
  readonly seq: number
  /** SHA-256 of the leaf's DER, lower-case hex. */
  readonly sha256: string
  /** Lower-case hex. */
  readonly serial: string
  readonly agentId: AgentId
  readonly purpose: CertificatePurpose
  readonly deliveryId: DeliveryId | null
  readonly notBefore: Date
  readonly notAfter: Date
  /** SHA-256 of the root that its chain leads to; null when that was not looked at. */
  readonly rootSha256: string | null
  /** Set when its agent is revoked; never cleared, not even when the host is enrolled again. */
  readonly revokedAt: Date | null
  /** When it was first presented as an identity. */
  readonly firstUsedAt: Date | null
}

export type NewIssuedCertificate = Omit<IssuedCertificate, 'seq' | 'revokedAt' | 'firstUsedAt'>
