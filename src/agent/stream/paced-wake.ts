import type { Clock } from '../../platform/clock.ts'

const INTERVAL_MS = 1000

/** However often the hub says that there is something new, the loop is woken once a second at most, and never too early. */
export function createPacedWake(clock: Clock, wake: () => void): () => void {
  let lastMs = Number.NEGATIVE_INFINITY
  let isWaiting = false
  const wakeNow = (): void => {
    isWaiting = false
    lastMs = clock.now().getTime()
    wake()
  }
  return () => {
    if (isWaiting) return
    const sinceMs = clock.now().getTime() - lastMs
    // A clock that was set back says nothing about how long ago the last one was.
    if (sinceMs >= INTERVAL_MS || sinceMs < 0) return wakeNow()
    isWaiting = true
    void clock.sleep(INTERVAL_MS - sinceMs).then(wakeNow)
  }
}
