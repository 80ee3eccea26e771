// Whether a target is to be applied, and why: decided from what is recorded and what stands on the disk.

import type { AppliedFile, TargetRecord } from './applied-store.ts'
import { type FileImage, sha256Of } from './target-files.ts'

/** What stands at a path: nothing, something that is no plain file, or a file. */
export type FileState = 'missing' | 'unexpected' | Omit<AppliedFile, 'path'>

export interface TargetSituation {
  readonly serial: string
  readonly sourceSha256: string
  /** Undefined where no file of the target holds the roots. */
  readonly rootsSha256: string | undefined
  readonly record: TargetRecord | undefined
  /** Of the recorded files, by path. */
  readonly states: ReadonlyMap<string, FileState>
  readonly now: Date
  /** Asked for by a person: then nothing waits. */
  readonly isForced: boolean
}

export type TargetPlan =
  | { readonly kind: 'up_to_date' }
  | { readonly kind: 'held_back'; readonly until: Date; readonly reason: string }
  | {
      readonly kind: 'apply'
      readonly because:
        | 'first_version'
        | 'new_version'
        | 'edited'
        | 'new_roots'
        | 'drift'
        | 'failed_before'
      /** Files of the last version that others changed or removed. */
      readonly drift: readonly string[]
    }

const FIRST_RETRY_MS = 60_000
const RETRY_MS_MAX = 3_600_000

export function planTarget(situation: TargetSituation): TargetPlan {
  const { record, serial, sourceSha256, now, isForced } = situation
  const drift = findDrift(situation)
  const because = reasonToApply(situation, drift)
  if (because === undefined) return { kind: 'up_to_date' }
  const failure = record?.failure ?? null
  const isSameTry = failure?.serial === serial && failure.source_sha256 === sourceSha256
  const nowMs = now.getTime()
  // A clock that shows a time before the failure has been set back, and says nothing about the wait.
  const isWaiting = failure !== null && nowMs < failure.retry_at_ms && nowMs >= failure.failed_at_ms
  if (isSameTry && isWaiting && !isForced) {
    const { step, reason } = failure
    return { kind: 'held_back', until: new Date(failure.retry_at_ms), reason: `${step}: ${reason}` }
  }
  return { kind: 'apply', because, drift }
}

/** A minute, doubling to an hour. */
export function retryDelayMs(attempts: number): number {
  return Math.min(RETRY_MS_MAX, FIRST_RETRY_MS * 2 ** Math.min(attempts - 1, 16))
}

export function stateOf(image: FileImage | undefined): FileState {
  if (image === undefined) return 'missing'
  const { content, uid, gid, mode } = image
  return { sha256: sha256Of(content), uid, gid, mode }
}

export function isSameState(
  state: FileState | undefined,
  wanted: Omit<AppliedFile, 'path'>,
): boolean {
  if (typeof state !== 'object') return false
  return (
    state.sha256 === wanted.sha256 &&
    state.uid === wanted.uid &&
    state.gid === wanted.gid &&
    state.mode === wanted.mode
  )
}

function reasonToApply(
  { record, serial, sourceSha256, rootsSha256 }: TargetSituation,
  drift: readonly string[],
): Extract<TargetPlan, { kind: 'apply' }>['because'] | undefined {
  const applied = record?.applied ?? null
  if (applied === null) return 'first_version'
  if (applied.serial !== serial) return 'new_version'
  if (applied.source_sha256 !== sourceSha256) return 'edited'
  // What an earlier version wrote does not say with which roots: it is left for the next certificate.
  const { roots_sha256: appliedRoots = rootsSha256 } = applied
  if (appliedRoots !== rootsSha256) return 'new_roots'
  if (drift.length > 0) return 'drift'
  // Somebody took back what failed; the hub still shows the failure [TGT-45].
  return (record?.failure ?? null) === null ? undefined : 'failed_before'
}

function findDrift({ record, states }: TargetSituation): string[] {
  const files = record?.applied?.files ?? []
  return files.filter((file) => !isSameState(states.get(file.path), file)).map(({ path }) => path)
}
