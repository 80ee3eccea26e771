import assert from 'node:assert/strict'
import { test } from 'node:test'
import * as fc from 'fast-check'
import { anyText, propertyRuns } from '../../test/support/property.ts'
import { formatDurationMs, parseDurationMs } from './durations.ts'

/** humantime's units and what they are worth, written out from its documentation. */
const UNITS: readonly (readonly [string, bigint])[] = [
  ...['ms', 'msec', 'millis'].map((name) => [name, 1n] as const),
  ...['s', 'sec', 'secs', 'second', 'seconds'].map((name) => [name, 1000n] as const),
  ...['m', 'min', 'mins', 'minute', 'minutes'].map((name) => [name, 60_000n] as const),
  ...['h', 'hr', 'hrs', 'hour', 'hours'].map((name) => [name, 3_600_000n] as const),
  ...['d', 'day', 'days'].map((name) => [name, 86_400_000n] as const),
  ...['w', 'week', 'weeks'].map((name) => [name, 604_800_000n] as const),
  ...['M', 'month', 'months'].map((name) => [name, 2_630_016_000n] as const),
  ...['y', 'yr', 'year', 'years'].map((name) => [name, 31_557_600_000n] as const),
]
const SAFE_MAX = BigInt(Number.MAX_SAFE_INTEGER)
const blank = fc.constantFrom('', ' ', '  ')
const part = fc.tuple(fc.bigInt({ min: 0n, max: 10_000n }), blank, fc.constantFrom(...UNITS), blank)

test('[AGV-15] any sequence of numbers with units is their sum, and nothing when it is not exact', () => {
  fc.assert(
    fc.property(fc.array(part, { minLength: 1, maxLength: 6 }), (parts) => {
      const text = parts
        .map(([count, gap, [name], rest]) => `${count}${gap}${name}${rest}`)
        .join('')
      const sum = parts.reduce((total, [count, , [, worth]]) => total + count * worth, 0n)
      assert.equal(parseDurationMs(text), sum <= SAFE_MAX ? Number(sum) : undefined, text)
    }),
    propertyRuns(500),
  )
})

test('[AGV-15] what is written is read back, and is the shortest of its kind', () => {
  fc.assert(
    fc.property(fc.maxSafeNat(), (durationMs) => {
      const text = formatDurationMs(durationMs)
      assert.equal(parseDurationMs(text), durationMs)
      assert.match(text, /^\d+(d|h|m|s|ms)( \d+(h|m|s|ms))*$/)
    }),
    propertyRuns(500),
  )
})

test('[AGV-15] no text makes it throw, and whatever it takes is numbers with known units', () => {
  const units = new Set(UNITS.map(([name]) => name))
  const near = fc.string({ unit: fc.constantFrom(...'0123456789 .,-+smhdwyMxe\n\u00a0'.split('')) })
  fc.assert(
    fc.property(fc.oneof(anyText(), near), (text) => {
      const durationMs = parseDurationMs(text)
      if (durationMs === undefined) return
      assert.ok(Number.isSafeInteger(durationMs) && durationMs >= 0)
      const words = text.match(/[A-Za-z]+/g) ?? []
      assert.ok(words.length > 0 && words.every((word) => units.has(word)), text)
      // Nothing but digits, letters and blanks, and no number without its unit.
      assert.match(text.replaceAll(/\s/g, ''), /^(\d+[A-Za-z]+)+$/)
    }),
    propertyRuns(2000),
  )
})
