import type { ArtefactName, CargoId, Recipient } from '../../protocol/identifiers.ts'
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

/** What a cargo that is a file holds, in its newest version. */
export interface CargoContent {
  /** As it is handed out: of a sealed cargo the age file, which the hub cannot open. */
  readonly bytes: Uint8Array
  /** Of the bytes; hex, lower case. */
  readonly sha256: string
  /** Recipients besides the agents, who can open the file when somebody has to seal it again. */
  readonly escrow: readonly Recipient[]
  /** The mode of the file on the host, where the hub sets it: for a push. */
  readonly mode?: number
}

/** A content without its bytes, which may be many. */
export interface ContentSummary {
  readonly sha256: string
  readonly byteCount: number
}
