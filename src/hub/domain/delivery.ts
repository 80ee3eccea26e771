import type { AgentId, CargoId, DeliveryId } from '../../protocol/identifiers.ts'
import type { DeliveryStatus } from '../../protocol/words.ts'

/** One agent's share of a cargo. */
export interface Delivery {
  readonly id: DeliveryId
  readonly cargoId: CargoId
  readonly agentId: AgentId
  readonly status: DeliveryStatus
  readonly updatedAt: Date
  /** The agent's last reason for failure. */
  readonly error: string | null
}
