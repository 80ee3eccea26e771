import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import * as fc from 'fast-check'
import { parseInstant } from './instants.ts'
import { propertyRuns } from '../../test/support/property.ts'

describe('[API-26] a time of RFC 3339', () => {
  for (const [text, expected] of [
    ['2026-01-31T12:00:00Z', '2026-01-31T12:00:00.000Z'],
    ['2026-01-31t12:00:00z', '2026-01-31T12:00:00.000Z'],
    ['2026-01-31T12:00:00.5Z', '2026-01-31T12:00:00.500Z'],
    ['2026-01-31T12:00:00.123456789Z', '2026-01-31T12:00:00.123Z'],
    ['2026-01-31T12:00:00+05:30', '2026-01-31T06:30:00.000Z'],
    ['2024-02-29T23:59:59-00:00', '2024-02-29T23:59:59.000Z'],
    ['0001-01-01T00:00:00Z', '0001-01-01T00:00:00.000Z'],
  ] as const) {
    test(`is ${text}`, () => assert.equal(parseInstant(text)?.toISOString(), expected))
  }

  for (const text of [
    '',
    '1',
    '2001',
    '1769860800',
    '2026-01-31',
    '2026-01-31T12:00Z',
    '2026-01-31T12:00:00',
    '2026-01-31 12:00:00Z',
    ' 2026-01-31T12:00:00Z',
    '2026-01-31T12:00:00Z\n',
    '2026-01-31T12:00:00.Z',
    '2026-02-29T12:00:00Z',
    '2026-04-31T12:00:00Z',
    '2026-13-01T12:00:00Z',
    '2026-01-00T12:00:00Z',
    '2026-01-31T24:00:00Z',
    '2026-01-31T23:59:60Z',
    '2026-01-31T12:00:00+24:00',
    '2026-01-31T12:00:00+0100',
    '+002026-01-31T12:00:00Z',
    'Jan 31 2026 12:00:00 GMT',
  ]) {
    test(`is not ${JSON.stringify(text)}`, () => assert.equal(parseInstant(text), undefined))
  }

  test('is what every instant of these centuries prints', () => {
    const instant = fc.date({
      min: new Date('0000-01-01T00:00:00Z'),
      max: new Date('9999-12-31T23:59:59.999Z'),
      noInvalidDate: true,
    })
    fc.assert(
      fc.property(instant, (at) => assert.deepEqual(parseInstant(at.toISOString()), at)),
      propertyRuns(100),
    )
  })
})
