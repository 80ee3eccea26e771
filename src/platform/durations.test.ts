import assert from 'node:assert/strict'
import { test } from 'node:test'
import * as fc from 'fast-check'
import { formatDurationMs, parseDurationMs } from './durations.ts'
import { propertyRuns } from '../../test/support/property.ts'

test('[AGV-15] durations are those of humantime', () => {
  const rows: readonly (readonly [string, number])[] = [
    ['30s', 30_000],
    ['500ms', 500],
    ['1h 30m', 5_400_000],
    ['1h30m', 5_400_000],
    ['14d', 1_209_600_000],
    ['2 weeks', 1_209_600_000],
    ['1day 1min 1sec', 86_461_000],
    ['0s', 0],
    ['1M', 2_630_016_000],
    ['1y', 31_557_600_000],
  ]
  for (const [text, expected] of rows) assert.equal(parseDurationMs(text), expected, text)
})

test('[AGV-15] a bare number and all else is none', () => {
  const bad = ['', ' ', '30', '0', '1.5h', '-1s', '1x', 's', '1h30', '1 h 30', '1s,', 'constructor']
  for (const text of [...bad, '1constructor', '99999999999999999999y', '1S', 'PT1H']) {
    assert.equal(parseDurationMs(text), undefined, text)
  }
})

test('what is written is read back', () => {
  fc.assert(
    fc.property(fc.nat({ max: Number.MAX_SAFE_INTEGER }), (durationMs) => {
      assert.equal(parseDurationMs(formatDurationMs(durationMs)), durationMs)
    }),
    propertyRuns(100),
  )
})
