import type { Clock } from '../../../platform/clock.ts'
import { createTokenBuckets } from '../../../platform/token-bucket.ts'
import { callerOf, SITE_SHARES } from './caller-key.ts'

/** What an address may fail at in a minute, with all of its /64; its /48 has four times as many. docs/protocol.md LIM-29. */
export interface CallerBuckets {
  /** Counts one; 0, or how many milliseconds to wait until there would be one. */
  take(address: string): number
}

export function createCallerBuckets(perMinute: number, clock: Clock): CallerBuckets {
  const bucketsOf = (count: number) =>
    createTokenBuckets({ perSecond: count / 60, burst: count, now: () => clock.now() })
  const ofCallers = bucketsOf(perMinute)
  const ofSites = bucketsOf(perMinute * SITE_SHARES)
  return {
    take: (address) => {
      const { key, siteKey } = callerOf(address)
      const waitMs = ofCallers.take(key)
      if (waitMs > 0 || siteKey === undefined) return waitMs
      return ofSites.take(siteKey)
    },
  }
}
