import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import type { Clock } from '../../src/platform/clock.ts'
import { backoffDelayMs, RetrySchedule, waitFor } from '../../src/agent/hub/backoff.ts'
import { isRenewalDue, renewalInstant } from '../../src/agent/identity/certificate-lifetime.ts'
import { decideNextDelayMs } from '../../src/agent/round/run-loop.ts'

const HOUR = 3_600_000
const START = new Date('2026-01-01T00:00:00Z')
const after = (ms: number): Date => new Date(START.getTime() + ms)

describe('when something is tried again', () => {
  test('[AGT-26] after seconds that double to five minutes', () => {
    const delays = [1, 2, 3, 9, 10, 1000].map((failures) => backoffDelayMs(failures, () => 1))
    assert.deepEqual(delays, [1000, 2000, 4000, 256_000, 300_000, 300_000])
    assert.equal(
      backoffDelayMs(1, () => 0),
      500,
    )
  })

  test('[AGT-26] not before what the other side asked for', () => {
    const retries = new RetrySchedule(() => 1)
    retries.recordFailure('x', START, 60_000)
    assert.equal(retries.isDue('x', after(59_999)), false)
    assert.equal(retries.isDue('x', after(60_000)), true)
    assert.equal(retries.isDue('y', START), true)
  })

  test('[AGT-19] a failure does not cut a hold-off short', () => {
    const retries = new RetrySchedule(() => 1)
    retries.holdOff('x', START, 60_000)
    retries.recordFailure('x', after(100))
    assert.equal(retries.isDue('x', after(59_999)), false)
    assert.equal(retries.isDue('x', after(60_000)), true)
  })

  test('what a round left alone although it was due is awaited no more', () => {
    const retries = new RetrySchedule(() => 1)
    retries.recordFailure('settled in another way', START, 60_000)
    assert.equal(retries.nextDueMs(after(59_999)), after(60_000).getTime())
    assert.equal(retries.nextDueMs(after(60_000)), undefined)
    retries.recordFailure('still wanted', after(60_000), 60_000)
    assert.equal(retries.nextDueMs(after(60_000)), after(120_000).getTime())
  })
})

describe('when a certificate is due', () => {
  const cases: [lifetimeMs: number, thresholdMs: number, effectiveMs: number][] = [
    [24 * HOUR, 6 * HOUR, 6 * HOUR],
    [24 * HOUR, 23 * HOUR, 8 * HOUR],
    [3 * HOUR, 6 * HOUR, HOUR],
  ]
  for (const [lifetimeMs, thresholdMs, effectiveMs] of cases) {
    test(`[AGT-19] a life of ${lifetimeMs / HOUR} h with a threshold of ${thresholdMs / HOUR} h: ${effectiveMs / HOUR} h before its end, ±10 %`, () => {
      const instants = ['a', 'b', 'c', 'd', 'e'].map((serial) => {
        const lifetime = { serial, notBefore: START, notAfter: after(lifetimeMs) }
        assert.equal(
          isRenewalDue(lifetime, after(lifetimeMs - effectiveMs * 1.11), thresholdMs),
          false,
        )
        assert.equal(
          isRenewalDue(lifetime, after(lifetimeMs - effectiveMs * 0.89), thresholdMs),
          true,
        )
        return renewalInstant(lifetime, thresholdMs).getTime()
      })
      assert.equal(new Set(instants).size, 5)
    })
  }
})

describe('the wait between two rounds', () => {
  const input = {
    intervalMs: 30_000,
    failures: 0,
    retryAfterMs: 0,
    nextRetryMs: undefined,
    nowMs: 0,
  }
  const cases: [
    title: string,
    overrides: Partial<Parameters<typeof decideNextDelayMs>[0]>,
    delayMs: number,
  ][] = [
    ['[AGT-18] is the interval', {}, 30_000],
    ['is shorter when something may be tried again', { nextRetryMs: 5000 }, 5000],
    ['is never less than a second for what is overdue', { nextRetryMs: -5000 }, 1000],
    ['[AGT-26] backs off when the hub gives no manifest', { failures: 3 }, 3000],
    ['[AGT-26] is at least what the hub asked for', { retryAfterMs: 90_000 }, 90_000],
  ]
  for (const [title, overrides, delayMs] of cases) {
    test(title, () =>
      assert.equal(
        decideNextDelayMs({ ...input, ...overrides }, () => 0.5),
        delayMs,
      ),
    )
  }

  test('[AGT-18] is spread over a tenth of the interval to either side', () => {
    const delays = [0, 1].map((chance) => decideNextDelayMs(input, () => chance))
    assert.deepEqual(delays, [27_000, 33_000])
  })

  test('[AGT-30] looks at the wall clock every minute, and ends when it was set back', async () => {
    const slices: number[] = []
    let nowMs = START.getTime()
    const clock: Clock = {
      now: () => new Date(nowMs),
      sleep: (durationMs) => {
        slices.push(durationMs)
        nowMs += slices.length === 3 ? -1_000_000 : durationMs
        return Promise.resolve()
      },
    }
    await waitFor(clock, 600_000, new AbortController().signal)
    assert.deepEqual(slices, [60_000, 60_000, 60_000])
  })
})
