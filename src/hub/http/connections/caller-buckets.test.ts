import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { systemClock } from '../../../platform/clock.ts'
import { createCallerBuckets } from './caller-buckets.ts'

const clock = { ...systemClock, now: () => new Date(0) }
const LIMIT = 3

describe('[LIM-29] [LIM-11] [LIM-23] failures', () => {
  const failuresUntilWait = (addressOf: (at: number) => string): number => {
    const buckets = createCallerBuckets(LIMIT, clock)
    for (let at = 0; at < 100; at += 1) if (buckets.take(addressOf(at)) > 0) return at
    return 100
  }

  for (const [name, addressOf, expected] of [
    ['one IPv4 address', () => '192.0.2.1', LIMIT],
    ['many IPv4 addresses', (at: number) => `192.0.2.${at}`, 100],
    ['a /64', (at: number) => `2001:db8::${at.toString(16)}`, LIMIT],
    ['a /48', (at: number) => `2001:db8:0:${at.toString(16)}::1`, 4 * LIMIT],
    ['many /48', (at: number) => `2001:db8:${at.toString(16)}::1`, 100],
  ] as const) {
    test(`of ${name} are ${expected} until it has to wait`, () => {
      assert.equal(failuresUntilWait(addressOf), expected)
    })
  }
})
