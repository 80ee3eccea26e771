import assert from 'node:assert/strict'
import { test } from 'node:test'
import { isHeardOf } from './describe-silence.ts'

const NOW_MS = Date.parse('2026-01-31T12:00:00Z')

test('a host that polled a moment ago is there, and neither silent nor down', () => {
  const isThere = (at: string | null) => isHeardOf({ last_contact_at: at }, NOW_MS)
  assert.equal(isThere('2026-01-31T11:59:11.000Z'), true)
  assert.equal(isThere('2026-01-31T11:55:00.000Z'), false)
  assert.equal(isThere(null), false)
})
