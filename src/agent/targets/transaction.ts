// What a change of a target's files is made with.

import type { Clock } from '../../platform/clock.ts'
import type { Logger } from '../../platform/logger.ts'
import type { AppliedStore } from './applied-store.ts'
import type { HiddenFromOutput } from './command-output.ts'
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
  /** Undefined when it did not fail; with `hidden` also what it printed last. */
  reload(argv: readonly string[], hidden?: HiddenFromOutput): Promise<ReloadFault | undefined>
  /** Of a PKCS#12 file. */
  passwordOf(file: TargetFile): Promise<string | undefined>
  /** Why the serial is not served; undefined when it is. */
  probe(probe: TargetProbe, serial: string): Promise<string | undefined>
}

export interface ReloadFault {
  readonly reason: string
  readonly output?: string | undefined
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
  /** The last that a command printed, for people to read; empty or undefined when there is nothing to show. */
  readonly output?: string | undefined
}
