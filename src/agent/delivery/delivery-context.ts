// What the work on deliveries is done with.

import type { Clock } from '../../platform/clock.ts'
import type { Logger } from '../../platform/logger.ts'
import type { RetrySchedule } from '../hub/backoff.ts'
import type { NewCertificates } from '../identity/certificate-lifetime.ts'
import type { KeyType } from '../../pki/keys.ts'
import type { ArtefactName } from '../../protocol/identifiers.ts'
import type { HubClient } from '../hub/client.ts'
import type { HubTime } from '../hub/time.ts'
import type { KnownFiles } from '../files/known-files.ts'
import type { Outbox } from '../hub/outbox.ts'
import type { InstalledTargets } from './follow-up.ts'
import type { HookLane } from './hook-lane.ts'
import type { InstalledPair } from './installed-pair.ts'
import type { ProcessedStore } from './processed-store.ts'

export interface DeliveryContext {
  readonly outDir: string
  readonly ageKeyFile: string
  readonly renewalThresholdMs: number
  /** Ours, for when to try again; what certificates say is measured by the hub's. */
  readonly clock: Clock
  readonly hubTime: HubTime
  readonly newCertificates: NewCertificates
  readonly hub: Pick<HubClient, 'issueCertificate' | 'sendEvent' | 'fetchBlob'>
  readonly outbox: Outbox
  readonly processed: ProcessedStore
  /** Read in earlier rounds. */
  readonly knownPairs: KnownFiles<InstalledPair>
  readonly targets: InstalledTargets
  /** The type that the host's targets ask for. */
  readonly keyTypeOf: (name: ArtefactName) => Promise<KeyType>
  readonly hooks: HookLane
  readonly retries: RetrySchedule
  readonly log: Logger
  /** Deliveries of unknown kinds that were warned about. */
  readonly warnedAbout: Set<string>
}

/** Automatic attempts for one certificate are at least this far apart. */
export const ATTEMPT_INTERVAL_MS = 60_000
