import type { CargoId } from '../../protocol/identifiers.ts'
import type { Actor } from './actor.ts'

/** An act on more entregas than one write takes: prepared a slice at a time, in force at once, then tidied up. */
export interface FleetChange {
  readonly id: number
  readonly act: FleetAct
  /** Null for one that is about no single carga. */
  readonly cargoId: CargoId | null
  readonly actor: Actor
  /** When it came into force; null while it is prepared, when no reader sees it. */
  readonly inForceAt: Date | null
}

export type FleetAct = 'create' | 'update' | 'remove' | 'retry'
