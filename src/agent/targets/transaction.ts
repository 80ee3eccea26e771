// What a change of a target's files is made with.

import type { Clock } from '../../platform/clock.ts'
import type { Logger } from '../../platform/logger.ts'
import type { AppliedStore } from './applied-store.ts'
import type { JournalStore } from './journal.ts'
import type { Material } from './render-content.ts'
import type { TargetFileOperations } from './target-files.ts'
import type { FailureStep } from './target-report.ts'
import type { Target, TargetContent, TargetFile, TargetProbe } from './target.ts'

/** Everything that a change touches apart from the files. */
export interface TargetParts {
  /** Why nothing may be written there; undefined when it may. */
  checkPlace(file: TargetFile): Promise<string | undefined>
  /** Throws when there is no such account, or it may not be given files. */
  ownerOf(file: TargetFile): Promise<{ readonly uid: number; readonly gid: number }>
  render(content: TargetContent, material: Material): Promise<Uint8Array>
  /** Why it failed; undefined when it did not. */
  reload(argv: readonly string[]): Promise<string | undefined>
  /** Why the serial is not served; undefined when it is. */
  probe(probe: TargetProbe, serial: string): Promise<string | undefined>
}

export interface TransactionContext {
  readonly files: TargetFileOperations
  readonly journals: JournalStore
  readonly applied: AppliedStore
  readonly parts: TargetParts
  readonly clock: Clock
  readonly log: Logger
  readonly newRequestId: () => string
}

export interface TargetChange {
  readonly id: string
  readonly target: Target
  /** Of the certificate; of a file the SHA-256 of what the hub handed out. */
  readonly serial: string
  /** Of a file's delivery. */
  readonly version: number | undefined
  readonly deliveryId: string
  readonly material: Material
  /** Undefined where no file of the target holds the roots. */
  readonly rootsSha256: string | undefined
  readonly drift: readonly string[]
}

export interface TargetFault {
  readonly step: FailureStep
  readonly reason: string
}
