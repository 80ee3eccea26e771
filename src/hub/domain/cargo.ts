import type { ArtefactName, CargoId } from '../../protocol/identifiers.ts'
import type { DeliveryKind } from '../../protocol/words.ts'

/** What is to be delivered; each agent that gets it has a Delivery. */
export interface Cargo {
  readonly id: CargoId
  readonly kind: DeliveryKind
  readonly name: ArtefactName
  readonly version: number
  /** DNS names and IP addresses that the certificate carries besides the agent's hostname. */
  readonly sans: readonly string[]
  readonly createdAt: Date
  readonly removedAt: Date | null
}
