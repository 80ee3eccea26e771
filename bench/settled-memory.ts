// Resident memory (VmRSS) of a process that has nothing to do: the least of a look a second, for at least half a minute, since a hub
// collects some ten seconds after its work.

import { systemClock } from '../src/platform/clock.ts'
import { residentMegabytes } from './daemon.ts'

const LOOK_EVERY_MS = 1000
const LOOKS_MIN = 30
const LOOKS_MAX = 90
/** Nothing less came for so many looks. */
const LOOKS_STEADY = 8

export async function settledMegabytes(pid: number): Promise<number> {
  let least = Number.POSITIVE_INFINITY
  for (let looks = 0, steady = 0; looks < LOOKS_MAX; looks += 1) {
    await systemClock.sleep(LOOK_EVERY_MS)
    const now = await residentMegabytes(pid)
    // A page more or less is no news.
    steady = now < least * 0.998 ? 0 : steady + 1
    least = Math.min(least, now)
    if (looks + 1 >= LOOKS_MIN && steady >= LOOKS_STEADY) break
  }
  return least
}
