import type { Clock } from '../../src/platform/clock.ts'

/** A clock that stands still until a test sets it; whoever sleeps wakes at once, and no time has passed. */
export interface SettableClock extends Clock {
  set(now: Date): void
  /** Forwards, or back when it is less than nothing. */
  pass(durationMs: number): void
}

export function createSettableClock(start: Date): SettableClock {
  let now = start
  return {
    now: () => now,
    sleep: () => Promise.resolve(),
    set: (time) => {
      now = time
    },
    pass: (durationMs) => {
      now = new Date(now.getTime() + durationMs)
    },
  }
}
