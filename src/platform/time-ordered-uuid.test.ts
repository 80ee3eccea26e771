import assert from 'node:assert/strict'
import { test } from 'node:test'
import { timeOrderedUuid } from './time-ordered-uuid.ts'

test('a time-ordered UUID is a version 7 UUID, and sorts by its time', () => {
  const uuids = [0, 1, 1_763_719_200_000, 1_763_719_200_001, 2 ** 47].map((ms) =>
    timeOrderedUuid(new Date(ms)),
  )
  for (const uuid of uuids) {
    assert.match(uuid, /^[0-9a-f]{8}-[0-9a-f]{4}-7[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$/)
  }
  assert.deepEqual(uuids.toSorted(), uuids)
})

test('two of the same millisecond differ', () => {
  const now = new Date()
  assert.notEqual(timeOrderedUuid(now), timeOrderedUuid(now))
})
