import assert from 'node:assert/strict'
import { test } from 'node:test'
import { countOf, type Latencies, mergeLatencies, percentileMs } from '../../fleet/latencies.ts'

/** The rule of fleet/driver/histogram.go. */
function bucketOf(microseconds: number): number {
  return Math.floor(Math.log(microseconds) / Math.log(1.05))
}

function counted(microseconds: readonly number[]): Latencies {
  return mergeLatencies(microseconds.map((each) => [[bucketOf(each), 1] as const]))
}

test('a percentile is at most 5 % above what it stands for', () => {
  const latencies = counted(Array.from({ length: 1000 }, (_, index) => (index + 1) * 100))
  assert.equal(countOf(latencies), 1000)
  for (const [share, exactMs] of [
    [0.5, 50],
    [0.99, 99],
    [1, 100],
  ] as const) {
    const ms = percentileMs(latencies, share) ?? 0
    assert.ok(ms >= exactMs * 0.999 && ms <= exactMs * 1.051, `${share}: ${ms}`)
  }
})

test('one slow operation in a hundred is seen by the last percentile alone', () => {
  const latencies = counted([...Array.from({ length: 99 }, () => 1000), 1_000_000])
  assert.ok((percentileMs(latencies, 0.99) ?? 0) < 1.06)
  assert.ok((percentileMs(latencies, 1) ?? 0) >= 1000)
})

test('counts of several intervals add up', () => {
  const merged = mergeLatencies([
    [
      [3, 1],
      [5, 2],
    ],
    [
      [5, 4],
      [1, 1],
    ],
  ])
  assert.deepEqual(merged, [
    [1, 1],
    [3, 1],
    [5, 6],
  ])
})

test('nothing has no percentile', () => {
  assert.equal(percentileMs([], 0.99), undefined)
})
