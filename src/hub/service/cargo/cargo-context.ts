import type { Clock } from '../../../platform/clock.ts'
import type { Store } from '../../store/store.ts'
import type { FleetChanges } from './fleet-changes.ts'

/** What the use cases of cargas work with. */
export interface CargoContext {
  readonly store: Store
  readonly clock: Clock
  /** The hub’s own names, which no carga may have. */
  readonly hubNames: readonly string[]
  /** The most that a sealed file may hold. */
  readonly contentBytesMax: number
  readonly changes: FleetChanges
}
