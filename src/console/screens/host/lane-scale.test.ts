import assert from 'node:assert/strict'
import { test } from 'node:test'
import { laneScale } from './lane-scale.ts'

const HOUR_MS = 3_600_000
const NOW_MS = Date.parse('2026-01-31T12:10:00Z')
const scale = laneScale('1h', NOW_MS, { left: 100, right: 1100 })

test('the past hour and the next six have a scale each, and meet at now', () => {
  assert.equal(scale.xAt(NOW_MS), scale.nowX)
  assert.equal(scale.xAt(NOW_MS - HOUR_MS), 100)
  assert.equal(scale.xAt(NOW_MS + 6 * HOUR_MS), 1100)
  const halfHour = scale.nowX - scale.xAt(NOW_MS - HOUR_MS / 2)
  const threeHours = scale.xAt(NOW_MS + 3 * HOUR_MS) - scale.nowX
  assert.ok(halfHour / 30 > threeHours / 180, 'a minute of the past is wider')
})

test('what lies outside stands at the edge', () => {
  assert.equal(scale.xAt(0), 100)
  assert.equal(scale.xAt(NOW_MS + 100 * HOUR_MS), 1100)
  assert.equal(scale.isInside(NOW_MS - 2 * HOUR_MS), false)
  assert.equal(scale.isInside(NOW_MS + 5 * HOUR_MS), true)
})

test('marks are at whole hours or parts of them, inside, and few', () => {
  for (const span of ['1h', '6h', '24h', '7d'] as const) {
    const { marks, isInside } = laneScale(span, NOW_MS, { left: 0, right: 334 })
    assert.ok(marks.length >= 8 && marks.length <= 12, `${span}: ${marks.length}`)
    assert.ok(
      marks.every((ms) => isInside(ms) && ms % (HOUR_MS / 4) === 0),
      span,
    )
  }
})
