import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { parseGoTime, resolveGoTime } from './go-time.ts'

const BASE = new Date('2026-11-21T10:00:00Z')

describe('parseGoTime', () => {
  const understood: readonly (readonly [string, string])[] = [
    ['10m', '2026-11-21T10:10:00.000Z'],
    ['1h30m', '2026-11-21T11:30:00.000Z'],
    ['1.5h', '2026-11-21T11:30:00.000Z'],
    ['500ms', '2026-11-21T10:00:00.500Z'],
    ['-30s', '2026-11-21T09:59:30.000Z'],
    ['+1s', '2026-11-21T10:00:01.000Z'],
    ['2026-12-24T18:00:00Z', '2026-12-24T18:00:00.000Z'],
    ['2026-12-24T18:00:00.25+01:00', '2026-12-24T17:00:00.250Z'],
  ]
  for (const [text, instant] of understood) {
    test(`reads ${text}`, () => {
      const time = parseGoTime(text)
      assert.ok(time)
      assert.equal(resolveGoTime(time, BASE).toISOString(), instant)
    })
  }

  for (const text of [
    '',
    '10',
    '1d',
    '1h 30m',
    'h',
    'tomorrow',
    '2026-12-24',
    '2026-13-45T99:00:00Z',
  ]) {
    test(`does not read ${JSON.stringify(text)}`, () => {
      assert.equal(parseGoTime(text), undefined)
    })
  }
})
