import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { isLate, lateFrom } from './late-renewal.ts'

const START = Date.parse('2026-11-21T10:00:00Z')
const MINUTE = 60_000
const HOUR = 60 * MINUTE
const SIX_HOURS = 6 * HOUR
const lifeOf = (durationMs: number) => ({
  notBefore: new Date(START),
  notAfter: new Date(START + durationMs),
})

describe('[MET-12] a certificate is late', () => {
  const rows: readonly [life: string, lifeMs: number, thresholdMs: number, leftMs: number][] = [
    ['a day, by the default of the agents', 24 * HOUR, SIX_HOURS, 3 * HOUR],
    ['a year: the threshold counts, not the third', 8760 * HOUR, SIX_HOURS, 3 * HOUR],
    ['an hour: the third counts, not the threshold', HOUR, SIX_HOURS, 10 * MINUTE],
    ['five minutes', 5 * MINUTE, SIX_HOURS, 50_000],
    ['a day in a fleet with a threshold of its own', 24 * HOUR, HOUR, HOUR / 2],
    ['twenty seconds, in whole milliseconds', 20_000, SIX_HOURS, 3333],
  ]
  for (const [life, lifeMs, thresholdMs, leftMs] of rows) {
    test(`that lives ${life}, from ${leftMs / 1000} s before its end`, () => {
      const lifetime = lifeOf(lifeMs)
      const from = new Date(START + lifeMs - leftMs)
      assert.deepEqual(lateFrom(lifetime, thresholdMs), from)
      assert.equal(isLate(lifetime, from, thresholdMs), true)
      assert.equal(isLate(lifetime, new Date(from.getTime() - 1), thresholdMs), false)
    })
  }

  test('never while an agent with the same threshold may still be waiting for its time', () => {
    for (const lifeMs of [20_000, 5 * MINUTE, HOUR, 24 * HOUR, 8760 * HOUR]) {
      const lifetime = lifeOf(lifeMs)
      // The agent's rule, at the latest end of its spread.
      const windowMs = Math.min(SIX_HOURS, lifeMs / 3)
      const latestRenewal = new Date(START + lifeMs - 0.9 * windowMs)
      assert.equal(isLate(lifetime, latestRenewal, SIX_HOURS), false)
    }
  })

  test('once it has expired, whatever the threshold', () => {
    assert.equal(isLate(lifeOf(HOUR), new Date(START + HOUR), 0), true)
  })
})
