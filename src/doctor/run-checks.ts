// All checks at the same time, each with its own time limit: what hangs holds up nothing but itself. docs/protocol.md DOC-3.

import { startDeadline } from '../platform/deadline.ts'
import { describeError, errnoCode, SvcError } from '../platform/errors.ts'
import { unlessAborted } from '../platform/unless-aborted.ts'
import { type Finding, type FindingStatus, Unchecked, worstOf } from './finding.ts'
import type { Scene } from './scene.ts'

export interface Check {
  /** Stable: programs know it. */
  readonly id: string
  readonly title: string
  /** What it reports, for the reference. */
  readonly finds: string
  /** What it needs to be allowed. */
  readonly needs: string
  run(scene: Scene): Promise<readonly Finding[]>
}

export interface CheckResult extends Pick<Check, 'id' | 'title'> {
  /** The worst of its findings. */
  readonly status: FindingStatus
  readonly findings: readonly Finding[]
}

const CHECK_MS_MAX = 8000

/** In the order of the table. */
export function runChecks(
  checks: readonly Check[],
  scene: Scene,
  limitMs = CHECK_MS_MAX,
): Promise<CheckResult[]> {
  return Promise.all(
    checks.map(async (check) => {
      const findings = await runCheck(check, scene, limitMs)
      return { id: check.id, title: check.title, status: worstOf(findings), findings }
    }),
  )
}

async function runCheck(check: Check, scene: Scene, limitMs: number): Promise<readonly Finding[]> {
  using deadline = startDeadline(limitMs)
  try {
    return await unlessAborted(check.run(scene), deadline.signal)
  } catch (error) {
    if (deadline.signal.aborted) {
      return [{ status: 'unknown', message: `not known: no answer within ${limitMs / 1000} s` }]
    }
    return [findingOfFailure(error)]
  }
}

/** A bug in a check ends the run, as a bug anywhere does. */
function findingOfFailure(error: unknown): Finding {
  if (error instanceof Unchecked) {
    const message = error.isExpected ? error.message : `not known: ${error.message}`
    return { status: error.isExpected ? 'skipped' : 'unknown', message }
  }
  const isOfTheWorld = error instanceof SvcError || errnoCode(error) !== undefined
  if (!isOfTheWorld) throw error
  return { status: 'unknown', message: `not known: ${describeError(error)}` }
}

/** 0: nothing is wrong; 1: something may go wrong, or is not known; 2: something is wrong. docs/protocol.md DOC-4. */
export function exitStatusOf(results: readonly Pick<CheckResult, 'status'>[]): 0 | 1 | 2 {
  const worst = worstOf(results)
  if (worst === 'error') return 2
  return worst === 'warning' || worst === 'unknown' ? 1 : 0
}
