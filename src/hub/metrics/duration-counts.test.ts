import assert from 'node:assert/strict'
import { test } from 'node:test'
import { DurationCounts } from './duration-counts.ts'

test('[OVW-8] a percentile is at most a tenth above the truth, and none of nothing', () => {
  const counts = new DurationCounts()
  assert.equal(counts.percentileMs(99), null)
  for (let ms = 1; ms <= 1000; ms += 1) counts.add(ms)
  for (const [percent, truth] of [
    [50, 500],
    [99, 990],
    [100, 1000],
  ] as const) {
    const found = counts.percentileMs(percent) ?? 0
    assert.ok(found >= truth && found <= truth * 1.1, `${percent}: ${found}`)
  }
  counts.clear()
  assert.deepEqual([counts.total, counts.percentileMs(50)], [0, null])
})

test('[OVW-8] what takes no time, or for ever, is counted too', () => {
  const counts = new DurationCounts()
  for (const ms of [0, -1, 1e12]) counts.add(ms)
  assert.equal(counts.total, 3)
  assert.ok((counts.percentileMs(100) ?? 0) >= 3_600_000)
})
