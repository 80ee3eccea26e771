import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { parseAnchor } from './anchor.ts'

describe('[ADT-3] an anchor', () => {
  test('is read back as it was kept, and nothing else is one', () => {
    const place = {
      seq: 3,
      hash: 'a'.repeat(64),
      timestamp: '2026-11-19T10:00:00.000000Z',
      peaks: [Buffer.alloc(32).toString('base64')],
    }
    const at = '2026-11-19T10:00:00.000Z'
    const anchor = {
      key: 'k',
      place,
      keptAt: at,
      wholeAt: at,
      days: [['2026-11-19', 3]],
    }
    assert.deepEqual(parseAnchor(JSON.stringify(anchor)), anchor)
    for (const wrong of [
      { ...anchor, key: 7 },
      { ...anchor, place: { ...anchor.place, hash: 'x' } },
      { ...anchor, place: { ...anchor.place, peaks: ['x'] } },
      { ...anchor, place: { ...anchor.place, seq: 0 } },
      { ...anchor, keptAt: 'soon' },
      null,
      [],
    ]) {
      assert.equal(parseAnchor(JSON.stringify(wrong)), undefined)
    }
    assert.equal(parseAnchor('{'), undefined)
    assert.deepEqual(parseAnchor(JSON.stringify({ ...anchor, days: [['x', 1], 3] }))?.days, [])
  })
})
