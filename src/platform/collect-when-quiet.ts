// A program that has worked and now waits gives back what the work left: V8 collects when memory is asked for, and a program that waits
// asks for none, so it would keep what the last burst left behind for as long as nothing happens.

import type { Clock } from './clock.ts'

export interface CollectWhenQuietOptions {
  readonly clock: Clock
  /** A full collection, which gives pages back to the system; a tenth of a second, during which nothing else runs. */
  readonly collect: () => unknown
  /** CPU time of this process so far. */
  readonly spentMs: () => number
}

const LOOK_EVERY_MS = 10_000
/** Of a core, from one look to the next: V8 collects by itself in a program that does more. */
const QUIET_SHARE_MAX = 0.01
/** What less work leaves behind is not worth a collection. */
const WORK_MS_MIN = 500
/** So that collections cost a program a twentieth of its work at most, however large its heap is. */
const WORK_TIMES_COST_MIN = 20

/** Until the signal aborts. */
export async function collectWhenQuiet(
  { clock, collect, spentMs }: CollectWhenQuietOptions,
  stop: AbortSignal,
): Promise<void> {
  let lastCostMs = 0
  let collectedAtMs = 0
  let before = spentMs()
  while (await slept(clock, stop)) {
    const now = spentMs()
    const isQuiet = now - before <= QUIET_SHARE_MAX * LOOK_EVERY_MS
    const isWorthIt = now - collectedAtMs >= Math.max(WORK_MS_MIN, lastCostMs * WORK_TIMES_COST_MIN)
    before = now
    if (!isQuiet || !isWorthIt) continue
    collect()
    collectedAtMs = before = spentMs()
    lastCostMs = collectedAtMs - now
  }
}

async function slept(clock: Clock, stop: AbortSignal): Promise<boolean> {
  await clock.sleep(LOOK_EVERY_MS, stop).catch(() => undefined)
  return !stop.aborted
}
