// How often a certificate is renewed, by arithmetic alone.

import type { Nap } from './virtual-time.ts'

export interface RenewalForecast {
  readonly min: number
  readonly max: number
}

const HOUR_MS = 3_600_000
/** A day, less a threshold of six hours that varies by a tenth. */
const PERIOD_MS_MIN = (24 - 6.6) * HOUR_MS
const PERIOD_MS_MAX = (24 - 5.4) * HOUR_MS
/** A round, a few attempts, and a clock that is wrong. */
const SLACK_MS = HOUR_MS

/** `outages`: when the host or the hub was not there. */
export function predictRenewals(from: Date, to: Date, outages: readonly Nap[]): RenewalForecast {
  return {
    min: countRenewals(from, to, outages, PERIOD_MS_MAX + SLACK_MS),
    max: countRenewals(from, to, outages, PERIOD_MS_MIN - SLACK_MS),
  }
}

function countRenewals(from: Date, to: Date, outages: readonly Nap[], periodMs: number): number {
  const ordered = [...outages].sort((a, b) => a.from.getTime() - b.from.getTime())
  let count = 0
  let atMs = from.getTime()
  for (;;) {
    atMs += periodMs
    for (const outage of ordered) {
      if (atMs >= outage.from.getTime() && atMs < outage.to.getTime()) atMs = outage.to.getTime()
    }
    if (atMs > to.getTime()) return count
    count += 1
  }
}
