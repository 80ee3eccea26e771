// How fast a wave of a rotation, or of an update, asks its hosts: each renews at once at the CA, or fetches a program. docs/protocol.md RLO-35.

import { SLICE_DELIVERIES } from '../cargo/fleet-changes.ts'

/** As `svc agente rotate` asks them one by one. */
const MS_PER_HOST = 20
/** What was not used in so long a time may be asked at once: between two looks there is no finer measure. */
const SAVED_MS = 2000
const WAIT_MS_MAX = SLICE_DELIVERIES * MS_PER_HOST

export interface AskPace {
  /** Whether a slice of hosts may be asked. */
  isOpen(now: Date): boolean
  note(now: Date, hosts: number): void
}

/** One rotation and one update are open at a time at the most, and share one pace. */
export function createAskPace(): AskPace {
  let openAtMs = 0
  return {
    isOpen: (now) => {
      const waitMs = openAtMs - now.getTime()
      // Longer than a slice takes only when the clock was set back.
      return waitMs <= 0 || waitMs > WAIT_MS_MAX
    },
    note: (now, hosts) => {
      const nowMs = now.getTime()
      const fromMs = openAtMs > nowMs ? nowMs : Math.max(openAtMs, nowMs - SAVED_MS)
      openAtMs = fromMs + hosts * MS_PER_HOST
    },
  }
}
