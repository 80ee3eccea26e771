// How long a wave has been open, and has soaked, as a hub counts it: by the time between two of its looks, and never more than it meant to
// wait. So a clock that somebody sets forward opens no wave early, and one set back only makes it wait. docs/protocol.md RLO-12.

import type { Rollout } from './rollout.ts'

export interface RolloutWatch {
  readonly wave: number
  readonly lookedAt: Date
  /** What the look found: every host of the wave is done. */
  readonly isSoaking: boolean
  readonly openMs: number
  readonly soakedMs: number
}

/** The rollout with the times of the wave as they are at this look. `last` is undefined for the first look of a hub. */
export function advanceTimes(
  rollout: Rollout,
  last: RolloutWatch | undefined,
  { now, stepMsMax }: { readonly now: Date; readonly stepMsMax: number },
): Rollout {
  if (rollout.state !== 'running' || !rollout.isGiven) return rollout
  if (last === undefined || last.wave !== rollout.wave) return rollout
  const passedMs = now.getTime() - last.lookedAt.getTime()
  const stepMs = Math.min(Math.max(passedMs, 0), stepMsMax)
  return {
    ...rollout,
    openMs: last.openMs + stepMs,
    soakedMs: last.isSoaking ? last.soakedMs + stepMs : 0,
  }
}
