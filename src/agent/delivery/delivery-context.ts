// What the work on deliveries is done with.

import type { Clock } from '../../platform/clock.ts'
import type { Logger } from '../../platform/logger.ts'
import type { RetrySchedule } from '../hub/backoff.ts'
import type { HubClient } from '../hub/client.ts'
import type { KnownFiles } from '../files/known-files.ts'
import type { Outbox } from '../hub/outbox.ts'
import type { InstalledTargets } from './follow-up.ts'
import type { HookLane } from './hook-lane.ts'
import type { InstalledArtefact, ObtainContext } from './delivery-kind.ts'
import type { ProcessedStore } from './processed-store.ts'

export interface DeliveryContext extends ObtainContext {
  readonly renewalThresholdMs: number
  /** Ours, for when to try again; what certificates say is measured by the hub's. */
  readonly clock: Clock
  readonly hub: ObtainContext['hub'] & Pick<HubClient, 'sendEvent'>
  readonly outbox: Outbox
  readonly processed: ProcessedStore
  /** Read in earlier rounds. */
  readonly known: KnownFiles<InstalledArtefact>
  readonly targets: InstalledTargets
  readonly hooks: HookLane
  readonly retries: RetrySchedule
  readonly log: Logger
  /** Deliveries of unknown kinds that were warned about. */
  readonly warnedAbout: Set<string>
}

/** Automatic attempts for one certificate are at least this far apart. */
export const ATTEMPT_INTERVAL_MS = 60_000
