import type { Cargo } from '../../../domain/cargo.ts'
import type { ObjectChange } from '../../../domain/plan-fleet.ts'

/** The cargas that a plan makes. */
export function plannedCargoes(_changes: readonly ObjectChange[], _now: Date): readonly Cargo[] {
  return []
}
