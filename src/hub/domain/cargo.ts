import { artefactFiles, findSharedFile } from '../../protocol/artefact-files.ts'
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
  /**
   * The selector that it belongs to, in its one form: each host that comes to match gets the cargo. Null for a cargo of the
   * hosts that somebody named. docs/protocol.md LBL-18.
   */
  readonly where: string | null
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

/** A file that both would write. */
export function sharedFileOf(
  one: Pick<Cargo, 'kind' | 'name'>,
  other: Pick<Cargo, 'kind' | 'name'>,
): string | undefined {
  return findSharedFile(artefactFiles(one.kind, one.name), artefactFiles(other.kind, other.name))
}
