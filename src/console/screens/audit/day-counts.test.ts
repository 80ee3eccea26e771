import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { addToDays, decideDays, sumDays } from './day-counts.ts'

const NONE = {
  earlier: [],
  now: [],
  computedUntil: undefined,
  newest: undefined,
  anchorAt: undefined,
}

describe('[ADT-5] entries by day', () => {
  test('say what was computed now, earlier, and not', () => {
    const bars = decideDays({
      earlier: [
        ['2026-11-18', 5],
        ['2026-11-20', 7],
      ],
      now: [['2026-11-20', 3]],
      computedUntil: '2026-11-20T12:00:00.000000Z',
      newest: '2026-11-22T01:00:00.000000Z',
      anchorAt: '2026-11-20T10:00:00.000000Z',
    })
    assert.deepEqual(
      bars.map(({ day, count, state, isAnchor }) => [day, count, state, isAnchor]),
      [
        ['2026-11-18', 5, 'earlier', false],
        ['2026-11-19', 0, 'earlier', false],
        ['2026-11-20', 10, 'now', true],
        ['2026-11-21', undefined, 'not', false],
        ['2026-11-22', undefined, 'not', false],
      ],
    )
  })

  test('are 31 at most, and none of an empty log', () => {
    assert.deepEqual(decideDays(NONE), [])
    const newest = '2026-11-22T01:00:00.000000Z'
    assert.equal(decideDays({ ...NONE, newest, now: [['2020-01-01', 1]] }).length, 31)
  })

  test('are counted by the day in UTC', () => {
    const days = new Map<string, number>()
    addToDays(days, '2026-11-20T23:59:59.999000Z')
    addToDays(days, '2026-11-20T00:00:00.000000Z')
    assert.deepEqual([...days], [['2026-11-20', 2]])
    assert.deepEqual(sumDays([['2026-11-21', 1]], [...days]), [
      ['2026-11-20', 2],
      ['2026-11-21', 1],
    ])
  })
})
