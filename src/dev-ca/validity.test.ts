import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { type GoTime, parseGoTime } from './go-time.ts'
import { decideValidity } from './validity.ts'

const NOW = new Date('2026-11-21T10:00:00Z')
const LIMITS = { defaultDurationMs: 86_400_000, durationMsMin: 300_000, durationMsMax: 86_400_000 }

function time(text: string | undefined): GoTime | undefined {
  return text === undefined ? undefined : parseGoTime(text)
}

function decide(notBefore: string | undefined, notAfter: string | undefined): string {
  const asked = { notBefore: time(notBefore), notAfter: time(notAfter) }
  const verdict = decideValidity(asked, LIMITS, NOW)
  return verdict.ok
    ? `${verdict.notBefore.toISOString()} ${verdict.notAfter.toISOString()}`
    : String(verdict.status)
}

describe('decideValidity', () => {
  const table: readonly (readonly [string, string | undefined, string | undefined, string])[] = [
    [
      'the default, begun a minute ago',
      undefined,
      undefined,
      '2026-11-21T09:59:00.000Z 2026-11-22T10:00:00.000Z',
    ],
    ['a duration from now', undefined, '10m', '2026-11-21T09:59:00.000Z 2026-11-21T10:10:00.000Z'],
    ['a duration from the begin', '2h', '10m', '2026-11-21T12:00:00.000Z 2026-11-21T12:10:00.000Z'],
    ['the longest', undefined, '24h', '2026-11-21T09:59:00.000Z 2026-11-22T10:00:00.000Z'],
    [
      'the shortest, backdate included',
      undefined,
      '4m',
      '2026-11-21T09:59:00.000Z 2026-11-21T10:04:00.000Z',
    ],
    ['less than the shortest', undefined, '239s', '403'],
    ['more than the longest', undefined, '24h1s', '403'],
    ['an end in the past', undefined, '-1s', '400'],
    ['an end before its begin', '2h', '2026-11-21T11:00:00Z', '400'],
  ]
  for (const [what, notBefore, notAfter, expected] of table) {
    test(`answers ${expected} to ${what}`, () => {
      assert.equal(decide(notBefore, notAfter), expected)
    })
  }
})
