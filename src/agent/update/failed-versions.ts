// Which versions came to nothing on this host, whatever rollout announced them: a hub that announces one again and again, each time as another
// rollout, must not have root fetch or install it again and again. docs/protocol.md RLO-38.

import { type Static, Type } from 'typebox'
import type { UpdateOutcome } from './update-request.ts'

/** An attempt that fetched a release, and did not lead to its version. */
export const FailedVersion = Type.Object({
  version: Type.String({ maxLength: 64 }),
  rollout: Type.String({ maxLength: 64 }),
  attempt: Type.Integer(),
  atMs: Type.Integer(),
})
export type FailedVersion = Static<typeof FailedVersion>

export const FAILED_VERSIONS_MAX = 16
/** Who mends the cause for a whole fleet may announce the version again on the next day. */
const REMEMBERED_MS = 24 * 60 * 60_000
/** Nothing was fetched, or not all of it. */
const FRUITLESS: ReadonlySet<string> = new Set([
  'download_failed',
  'update_under_way',
  'release_missing',
  'not_newer',
  'not_permitted',
  'no_release_key',
])

/** With the outcome, when it is one of them and not known yet. It is of a version that does not run, and that is not on trial. */
export function withOutcome(
  failed: readonly FailedVersion[],
  { version, rollout, attempt, failure }: UpdateOutcome,
  now: Date,
): readonly FailedVersion[] {
  if (failure !== undefined && FRUITLESS.has(failure.code)) return failed
  const isKnown = failed.some(
    (one) => one.version === version && one.rollout === rollout && one.attempt === attempt,
  )
  if (isKnown) return failed
  const added = { version, rollout, attempt, atMs: now.getTime() }
  return [added, ...failed.filter((one) => isRecent(one, now))].slice(0, FAILED_VERSIONS_MAX)
}

/** Why a rollout may not have this version tried now; undefined when it may, and of its own attempts, which speak for themselves. */
export function whyNotAgain(
  failed: readonly FailedVersion[],
  wanted: { readonly version: string; readonly rollout: string; readonly attempts: number },
  now: Date,
): string | undefined {
  const recent = failed.filter((one) => isRecent(one, now))
  const earlier = recent.find(
    ({ version, rollout }) =>
      version === wanted.version && !(rollout === wanted.rollout && wanted.attempts > 0),
  )
  if (earlier !== undefined) {
    return `version ${wanted.version} failed on this host, or was taken back, less than a day ago (rollout ${earlier.rollout})`
  }
  if (recent.length < FAILED_VERSIONS_MAX) return undefined
  return `${FAILED_VERSIONS_MAX} announced updates failed on this host within a day`
}

/** Also one of a clock that was set back is forgotten in the end. */
function isRecent({ atMs }: FailedVersion, now: Date): boolean {
  return Math.abs(now.getTime() - atMs) < REMEMBERED_MS
}
