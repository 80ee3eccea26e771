import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import type { WebhookProgress } from './webhook.ts'
import {
  decideRetry,
  parseRetryAfterMs,
  passMessage,
  remainingDelayMs,
  type FailedAttempt,
} from './webhook-retry.ts'

const NOW = new Date('2026-11-21T10:00:00Z')
const HOUR_MS = 3_600_000
const START: WebhookProgress = {
  cursorSeq: 6,
  attempts: 0,
  waitedMs: 0,
  nextAttemptAt: null,
  lastSuccessAt: NOW,
  lastErrorAt: null,
  lastError: null,
}

function failed(more: Partial<FailedAttempt> = {}): FailedAttempt {
  return { seq: 7, error: 'answered 500', retryAfterMs: undefined, now: NOW, random: 1, ...more }
}

function delaysOf(count: number, random: number): number[] {
  let progress = START
  return Array.from({ length: count }, () => {
    const verdict = decideRetry(progress, failed({ random }))
    assert.ok(verdict.kind === 'wait')
    progress = { ...verdict.progress, waitedMs: verdict.progress.waitedMs + verdict.delayMs }
    return verdict.delayMs
  })
}

describe('[WHK-7] the wait after a failure', () => {
  test('doubles from a second up to an hour', () => {
    const seconds = delaysOf(14, 1).map((delayMs) => delayMs / 1000)
    const doubled = [1, 2, 4, 8, 16, 32, 64, 128, 256, 512, 1024, 2048]
    assert.deepEqual(seconds, [...doubled, 3600, 3600])
  })

  test('is at least half of that', () => {
    assert.deepEqual(delaysOf(4, 0), [500, 1000, 2000, 4000])
    assert.equal(delaysOf(20, 0).at(-1), HOUR_MS / 2)
  })

  test('is what the receiver asks for, if that is longer, up to an hour', () => {
    for (const [retryAfterMs, delayMs] of [
      [30_000, 30_000],
      [10, 1000],
      [7 * 24 * HOUR_MS, HOUR_MS],
    ] as const) {
      const verdict = decideRetry(START, failed({ retryAfterMs }))
      assert.ok(verdict.kind === 'wait')
      assert.equal(verdict.delayMs, delayMs)
      assert.deepEqual(verdict.progress.nextAttemptAt, new Date(NOW.getTime() + delayMs))
    }
  })

  test('leaves the cursor, and says what was wrong', () => {
    const { progress } = decideRetry(START, failed())
    const { cursorSeq, attempts, waitedMs, lastError, lastErrorAt, lastSuccessAt } = progress
    assert.deepEqual(
      { cursorSeq, attempts, waitedMs, lastError, lastErrorAt, lastSuccessAt },
      {
        cursorSeq: 6,
        attempts: 1,
        waitedMs: 0,
        lastError: 'answered 500',
        lastErrorAt: NOW,
        lastSuccessAt: NOW,
      },
    )
  })
})

describe('[WHK-8] a message', () => {
  const threeDaysMs = 72 * HOUR_MS

  test('is dead when its waits add up to three days, and not before', () => {
    const nearly = { ...START, attempts: 90, waitedMs: threeDaysMs - 1 }
    assert.equal(decideRetry(nearly, failed()).kind, 'wait')
    const verdict = decideRetry({ ...nearly, waitedMs: threeDaysMs }, failed())
    assert.equal(verdict.kind, 'dead')
    const { cursorSeq, attempts, waitedMs, nextAttemptAt, lastError } = verdict.progress
    assert.deepEqual(
      { cursorSeq, attempts, waitedMs, nextAttemptAt, lastError },
      { cursorSeq: 7, attempts: 0, waitedMs: 0, nextAttemptAt: null, lastError: 'answered 500' },
    )
  })

  test('does not die of a clock that jumps', () => {
    const jumped = failed({ now: new Date('2036-01-01T00:00:00Z') })
    assert.equal(decideRetry({ ...START, attempts: 3, waitedMs: 7000 }, jumped).kind, 'wait')
  })

  test('that is done takes its attempts with it', () => {
    const passed = passMessage({ ...START, attempts: 3, waitedMs: 9, nextAttemptAt: NOW }, 9)
    assert.deepEqual(passed, { ...START, cursorSeq: 9 })
  })
})

describe('[WHK-7] what is left of a wait after a start', () => {
  const at = (time: string): WebhookProgress => ({ ...START, nextAttemptAt: new Date(time) })
  test('is the rest of it, and never over an hour, wherever the clock is', () => {
    assert.equal(remainingDelayMs(START, NOW), 0)
    assert.equal(remainingDelayMs(at('2026-11-21T10:00:30Z'), NOW), 30_000)
    assert.equal(remainingDelayMs(at('2026-11-21T09:00:00Z'), NOW), 0)
    assert.equal(remainingDelayMs(at('2036-11-21T09:00:00Z'), NOW), HOUR_MS)
  })
})

describe('[WHK-7] Retry-After', () => {
  const cases: [text: string, expected: number | undefined][] = [
    ['0', 0],
    ['120', 120_000],
    ['Sat, 21 Nov 2026 10:00:30 GMT', 30_000],
    ['Sat, 21 Nov 2026 09:00:00 GMT', 0],
    ['', undefined],
    ['-5', undefined],
    ['1.5', undefined],
    ['99999999999999999999', undefined],
    ['soon', undefined],
  ]
  for (const [text, expected] of cases) {
    test(`${JSON.stringify(text)} is ${expected} ms`, () => {
      assert.equal(parseRetryAfterMs(text, NOW), expected)
    })
  }
})
