// What the hub knows of all its agents at once: counts for metrics and operators, and the certificates that hosts live on.

import type { AgentId, ArtefactName, DeliveryId, Hostname } from '../../protocol/identifiers.ts'
import type { LiveStatus } from './delivery.ts'
import type { CertificatePurpose } from './issued-certificate.ts'

/** Of an agent that is not revoked: the identity that it uses, or the newest certificate of a delivery that it installed. */
export interface CertificateInUse {
  readonly agentId: AgentId
  readonly hostname: Hostname
  readonly purpose: CertificatePurpose
  readonly deliveryId: DeliveryId | null
  /** The carga's; null for an identity. */
  readonly name: ArtefactName | null
  readonly notBefore: Date
  readonly notAfter: Date
}

/** The same, as the hub knows it from others. */
export interface NamedCertificateInUse extends CertificateInUse {
  readonly sha256: string
  readonly serial: string
}

/** How many end within so many seconds from now. */
export const ENDING_WITHIN = { '1h': 3600, '6h': 21_600, '24h': 86_400, '7d': 604_800 } as const
export type EndingWithin = keyof typeof ENDING_WITHIN

export interface CertificatesSummary {
  /** Neither late nor expired. */
  readonly valid: number
  /** Late, but not expired. */
  readonly late: number
  readonly expired: number
  /** The first end of the certificates that have not expired. */
  readonly firstNotAfter: Date | undefined
  readonly endingWithin: Readonly<Record<EndingWithin, number>>
}

export interface FleetSummary {
  /** Without the removed ones; `late` have a certificate that is late or expired. */
  readonly agents: {
    readonly registered: number
    readonly late: number
    readonly revoked: number
  }
  readonly certificates: Readonly<Record<CertificatePurpose, CertificatesSummary>>
  /** Entregas that are over are history, and not counted. */
  readonly deliveries: Readonly<Record<LiveStatus, number>>
  /** Entregas with targets that are taken back; they count in `deliveries` too. */
  readonly reverted: number
  /** Since when the one that waits longest, `pendente` or `em_andamento`, is what it is. */
  readonly oldestWaitingSince: Date | undefined
}
