import assert from 'node:assert/strict'
import { test } from 'node:test'
import { describeDuration } from './durations.ts'

const UNITS = { second: 's', minute: 'min', hour: 'h', day: 'd', years: 'years' }
const [SECOND, MINUTE, HOUR, DAY] = [1000, 60_000, 3_600_000, 86_400_000]

test('a duration has the two units that matter, rounded down', () => {
  const cases: readonly (readonly [number, string])[] = [
    [-5 * HOUR, '0 s'],
    [0, '0 s'],
    [59 * SECOND + 999, '59 s'],
    [MINUTE, '1 min'],
    [47 * MINUTE + 59 * SECOND, '47 min'],
    [HOUR, '1 h'],
    [HOUR + 31 * MINUTE, '1 h 31'],
    [2 * HOUR + 4 * MINUTE, '2 h 04'],
    [DAY - 1, '23 h 59'],
    [2 * DAY, '2 d'],
    [2 * DAY + 4 * HOUR, '2 d 4 h'],
    [3 * DAY + 4 * HOUR, '3 d'],
    [729 * DAY, '729 d'],
    [3650 * DAY, '10 years'],
  ]
  for (const [ms, text] of cases) assert.equal(describeDuration(ms, UNITS), text)
})
