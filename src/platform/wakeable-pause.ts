// The rest of somebody who works when there is something to do: it ends early when woken.

import type { Clock } from './clock.ts'

export interface WakeablePause {
  /** Ends the pause that is under way, or else the next one before it begins. */
  wake(this: void): void
  /** Until woken, or aborted, or `durationMs` are over. For one caller at a time. */
  pause(this: void, durationMs: number, signal: AbortSignal): Promise<void>
}

export function createWakeablePause(clock: Pick<Clock, 'sleep'>): WakeablePause {
  let woken = new AbortController()
  return {
    wake: () => woken.abort(),
    pause: async (durationMs, signal) => {
      await clock.sleep(durationMs, AbortSignal.any([signal, woken.signal])).catch(() => undefined)
      woken = new AbortController()
    },
  }
}
