import assert from 'node:assert/strict'
import { test } from 'node:test'
import { createTokenBuckets } from './token-bucket.ts'

function bucketsAt(clock: { ms: number }, perSecond: number, burst: number, keysMax?: number) {
  const options = { perSecond, burst, now: () => new Date(clock.ms) }
  return createTokenBuckets(keysMax === undefined ? options : { ...options, keysMax })
}

test('a burst passes, then the rate holds, key by key', () => {
  const clock = { ms: 1000 }
  const buckets = bucketsAt(clock, 10, 3)
  assert.deepEqual(
    [1, 2, 3, 4].map(() => buckets.take('a') > 0),
    [false, false, false, true],
  )
  assert.equal(buckets.take('a'), 100)
  assert.equal(buckets.take('b'), 0)
  clock.ms += 100
  assert.equal(buckets.take('a'), 0)
  assert.equal(buckets.take('a'), 100)
})

test('a look takes nothing, and what is given back can be taken again, up to the burst', () => {
  const buckets = bucketsAt({ ms: 0 }, 10, 1)
  assert.deepEqual([buckets.waitMs('a'), buckets.waitMs('a')], [0, 0])
  buckets.giveBack('a')
  assert.deepEqual([buckets.take('a'), buckets.waitMs('a'), buckets.take('a')], [0, 100, 100])
  buckets.giveBack('a')
  buckets.giveBack('a')
  assert.deepEqual([buckets.take('a'), buckets.take('a')], [0, 100])
})

test('a clock that goes back neither fills nor blocks for long', () => {
  const clock = { ms: 1_000_000 }
  const buckets = bucketsAt(clock, 10, 1)
  assert.equal(buckets.take('a'), 0)
  clock.ms -= 500_000
  assert.equal(buckets.take('a'), 100)
  clock.ms += 100
  assert.equal(buckets.take('a'), 0)
})

test('an infinite rate limits nothing', () => {
  const buckets = bucketsAt({ ms: 0 }, Number.POSITIVE_INFINITY, Number.POSITIVE_INFINITY)
  for (let count = 0; count < 1000; count += 1) assert.equal(buckets.take('a'), 0)
})

test('the number of keys stays bounded', () => {
  const clock = { ms: 0 }
  const buckets = bucketsAt(clock, 1, 1, 10)
  for (let key = 0; key < 1000; key += 1) assert.equal(buckets.take(String(key)), 0)
})
