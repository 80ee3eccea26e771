import assert from 'node:assert/strict'
import { test } from 'node:test'
import { findWaves, hoursBetweenMarks, listWholeHours, ticksUpTo } from './ends-scale.ts'

test('ticks are round, few, and none is above the highest bar', () => {
  assert.deepEqual(ticksUpTo(0), [0])
  assert.deepEqual(ticksUpTo(1), [0, 1])
  assert.deepEqual(ticksUpTo(182), [0, 100])
  assert.deepEqual(ticksUpTo(250), [0, 100, 200])
  for (let most = 1; most < 200_000; most = Math.ceil(most * 1.3)) {
    const ticks = ticksUpTo(most)
    assert.ok(ticks.length >= 2 && ticks.length <= 4, `${most}: ${ticks.join(' ')}`)
    assert.ok((ticks.at(-1) ?? 0) <= most)
  }
})

test('what ends together is a wave, and an even fleet has none', () => {
  const even = Array.from({ length: 96 }, () => 40)
  assert.deepEqual(findWaves(even), [])
  const two = even.map((count, at) => (at >= 20 && at < 24 ? 200 : at === 70 ? 120 : count))
  assert.deepEqual(findWaves(two), [
    { first: 20, last: 23, count: 800 },
    { first: 70, last: 70, count: 120 },
  ])
  assert.deepEqual(findWaves([0, 0, 1, 0]), [], 'one certificate is no wave')
})

test('marks have room', () => {
  assert.equal(hoursBetweenMarks(48, false), 6)
  assert.equal(hoursBetweenMarks(48, true), 12)
  assert.equal(hoursBetweenMarks(168, false), 24)
})

test('marks stand at whole hours of the zone, also where those are half an hour beside UTC', () => {
  const kolkata = (): number => 5.5 * 3_600_000
  const fromMs = Date.parse('2026-11-26T16:45:00Z')
  const endMs = Date.parse('2026-11-26T20:30:00Z')
  assert.deepEqual(
    listWholeHours(fromMs, endMs, kolkata).map(({ ms, hour }) => [
      new Date(ms).toISOString(),
      hour,
    ]),
    [
      ['2026-11-26T17:30:00.000Z', 23],
      ['2026-11-26T18:30:00.000Z', 0],
      ['2026-11-26T19:30:00.000Z', 1],
    ],
  )
  assert.deepEqual(
    listWholeHours(fromMs, endMs, () => -3 * 3_600_000).map(({ hour }) => hour),
    [14, 15, 16, 17],
  )
})

test('an hour that a clock goes back comes twice', () => {
  const changeMs = Date.parse('2026-10-25T01:00:00Z')
  const berlin = (ms: number): number => (ms < changeMs ? 2 : 1) * 3_600_000
  const hours = listWholeHours(changeMs - 7_200_000, changeMs + 7_200_000, berlin)
  assert.deepEqual(
    hours.map(({ hour }) => hour),
    [1, 2, 2, 3],
  )
})
