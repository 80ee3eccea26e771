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
  /** Version and names of the cargo when this delivery was made. */
  readonly version: number
  readonly sans: readonly string[]
  /** The delivery that takes this one's place once it is installed. */
  readonly replacedBy: DeliveryId | null
}
