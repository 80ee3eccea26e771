import assert from 'node:assert/strict'
import { test } from 'node:test'
import { judgePlaces } from './judge-places.ts'

const NOW = '2026-11-22T06:12:31.000Z'
const FACTS = {
  vault_at: '2026-11-22T06:12:30.000Z',
  outside_at: '2026-11-22T06:12:30.000Z',
  is_kept_outside: true,
  up_seconds: 86_400,
}

test('[DOC-25] a place without a checkpoint of the whole log for five minutes is behind', () => {
  assert.deepEqual(judgePlaces(FACTS, NOW), { vault: 'whole', outside: 'whole' })
  const old = { ...FACTS, outside_at: '2026-11-22T06:07:30.000Z' }
  assert.deepEqual(judgePlaces(old, NOW), { vault: 'whole', outside: 'behind' })
  assert.equal(judgePlaces({ ...FACTS, vault_at: null }, NOW).vault, 'behind')
  // A hub that has just started has not signed yet.
  assert.equal(judgePlaces({ ...FACTS, vault_at: null, up_seconds: 3 }, NOW).vault, 'unknown')
  assert.equal(judgePlaces({ ...FACTS, outside_at: null, up_seconds: 300 }, NOW).outside, 'unknown')
  assert.equal(judgePlaces({ ...FACTS, outside_at: null, up_seconds: 301 }, NOW).outside, 'behind')
})

test('[DOC-25] without a directory nothing is kept outside', () => {
  const inside = { ...FACTS, outside_at: null, is_kept_outside: false }
  assert.deepEqual(judgePlaces(inside, NOW), { vault: 'whole', outside: 'none' })
})
