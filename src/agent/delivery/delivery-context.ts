// What the work on deliveries is done with.

import type { Clock } from '../../platform/clock.ts'
import type { Logger } from '../../platform/logger.ts'
import type { RetrySchedule } from '../backoff.ts'
import type { HubClient } from '../hub-client.ts'
import type { Outbox } from '../reporting/outbox.ts'
import type { HookLane } from './hook-lane.ts'
import type { ProcessedStore } from './processed-store.ts'

export interface DeliveryContext {
  readonly outDir: string
  readonly renewalThresholdMs: number
  readonly clock: Clock
  readonly hub: Pick<HubClient, 'issueCertificate' | 'sendEvent'>
  readonly outbox: Outbox
  readonly processed: ProcessedStore
  readonly hooks: HookLane
  readonly retries: RetrySchedule
  readonly log: Logger
  /** Deliveries of unknown kinds that were warned about. */
  readonly warnedAbout: Set<string>
}

/** Automatic attempts for one certificate are at least this far apart. */
export const ATTEMPT_INTERVAL_MS = 60_000
