import type { AgentId, CargoId, DeliveryId } from '../../protocol/identifiers.ts'
import { DeliveryStatus } from '../../protocol/words.ts'

/** One agent's share of a cargo. */
export interface Delivery {
  readonly id: DeliveryId
  readonly cargoId: CargoId
  readonly agentId: AgentId
  readonly status: DeliveryStatus
  readonly updatedAt: Date
  /** The agent's last reason for failure. */
  readonly error: string | null
  /** Version and names of the cargo when this delivery was made. */
  readonly version: number
  readonly sans: readonly string[]
  /** The delivery that takes this one's place once it is installed. */
  readonly replacedBy: DeliveryId | null
}

/** Its files are, or may yet be, on the host; all others are over. */
export const LIVE_STATUSES = [
  DeliveryStatus.pending,
  DeliveryStatus.inProgress,
  DeliveryStatus.installed,
  DeliveryStatus.delivered,
  DeliveryStatus.failed,
] as const
export type LiveStatus = (typeof LIVE_STATUSES)[number]

/** The host has no file of the delivery: the delivery is over as soon as another takes its place. docs/protocol.md DEL-16. */
export const ABSENT_STATUSES = [
  DeliveryStatus.pending,
  DeliveryStatus.inProgress,
  DeliveryStatus.failed,
] as const

/** Its files are on the host. */
export function isOnHost({ status }: Pick<Delivery, 'status'>): boolean {
  return status === DeliveryStatus.installed || status === DeliveryStatus.delivered
}

export function isLive({ status }: Pick<Delivery, 'status'>): boolean {
  return (LIVE_STATUSES as readonly DeliveryStatus[]).includes(status)
}

/** It speaks for its file: no other has taken, or is about to take, its place. */
export function isStanding(delivery: Pick<Delivery, 'status' | 'replacedBy'>): boolean {
  return delivery.replacedBy === null && isLive(delivery)
}
