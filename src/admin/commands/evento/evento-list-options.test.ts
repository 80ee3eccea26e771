import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { UserError } from '../../../platform/errors.ts'
import { parseEntryListing, type EventoListOptions } from './evento-list-options.ts'

const NOW = new Date('2026-11-21T12:00:00Z')

describe('parseEntryListing', () => {
  test('[CLI-12] lists the whole log when nothing is asked for', () => {
    const listing = parseEntryListing({}, NOW)
    assert.deepEqual(listing, {
      query: {},
      limit: undefined,
      after: undefined,
      kept: undefined,
      isWholeLog: true,
    })
  })

  for (const options of [
    { limit: '5' },
    { tipo: ['x'] },
    { about: 'a' },
    { actor: 'admin' },
    { until: '1h' },
    { before: '7' },
    { agente: 'a' },
    { since: '1h' },
    { after: '7' },
  ]) {
    test(`does not take ${JSON.stringify(options)} for the whole log`, () => {
      assert.equal(parseEntryListing(options, NOW).isWholeLog, false)
    })
  }

  test('[CLI-12] begins after a number, with or without a limit', () => {
    const { after, limit } = parseEntryListing({ after: '120', limit: '5' }, NOW)
    assert.deepEqual({ after, limit }, { after: 120, limit: 5 })
  })

  for (const [text, expected] of [
    ['2026-01-31', '2026-01-31T00:00:00.000Z'],
    ['2026-01-31T12:00:00Z', '2026-01-31T12:00:00.000Z'],
    ['2026-01-31 12:00:00.123456Z', '2026-01-31T12:00:00.123Z'],
    ['2026-01-31T12:00:00+01:00', '2026-01-31T11:00:00.000Z'],
    ['1h 30m', '2026-11-21T10:30:00.000Z'],
    // Before everything; a year below 0 would be no time of RFC 3339.
    ['3000y', '1970-01-01T00:00:00.000Z'],
  ] as const) {
    test(`reads --since ${text}`, () => {
      assert.equal(parseEntryListing({ since: text }, NOW).query.since, expected)
    })
  }

  test('[CLI-51] asks for one type as hubs of every version know it, and for several together', () => {
    assert.deepEqual(parseEntryListing({ tipo: ['x'] }, NOW).query, { tipo: 'x' })
    assert.deepEqual(parseEntryListing({ tipo: ['x', 'y'] }, NOW).query, { tipos: ['x', 'y'] })
  })

  test('[CLI-51] asks what was done to an agent, by whom, and between which times and numbers', () => {
    const options = { about: 'a', actor: 'token:ci', since: '2h', until: '1h', before: '7' }
    assert.deepEqual(parseEntryListing(options, NOW).query, {
      about: 'a',
      actor: 'token:ci',
      since: '2026-11-21T10:00:00.000Z',
      until: '2026-11-21T11:00:00.000Z',
      before: 7,
    })
  })

  const mistakes: EventoListOptions[] = [
    { until: 'soon' },
    { before: 'x' },
    { agente: 'a', about: 'a' },
    { agente: 'a', actor: 'admin' },
    { follow: true, before: '7' },
    { follow: true, until: '1h' },
    { since: '2026-13-01' },
    { since: '2026-02-30' },
    { since: '2026-01-31T12:00:00' },
    { since: '1769860800' },
    { since: '999999999y' },
    { limit: '0' },
    { limit: '-1' },
    { limit: '1.5' },
    { limit: '100001' },
    { after: '-1' },
    { after: '1.5' },
    { after: 'x' },
    { verify: true, follow: true },
    { checkpoint: 'file' },
    { key: 'key' },
  ]
  for (const options of mistakes) {
    test(`refuses ${JSON.stringify(options)}`, () => {
      assert.throws(() => parseEntryListing(options, NOW), UserError)
    })
  }
})
