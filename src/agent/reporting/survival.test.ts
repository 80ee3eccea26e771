import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { findSurvival } from './survival.ts'

const NOW = new Date('2026-11-21T10:00:00Z')
const held = (name: string | null, seconds: number) => ({
  name,
  notAfter: new Date(NOW.getTime() + seconds * 1000),
})

describe('[MET-17] a host survives without the hub', () => {
  test('until the first of its certificates ends', () => {
    const first = held('site', 90)
    const found = findSurvival([held(null, 3600), first, held('mail', 91)], NOW)
    assert.deepEqual(found, { seconds: 90, first })
  })
  test('whatever has ended already, which is lost', () => {
    const identity = held(null, 10)
    assert.deepEqual(findSurvival([held('old', 0), held('older', -5), identity], NOW), {
      seconds: 10,
      first: identity,
    })
  })
  test('and without certificates it has nothing to lose', () => {
    assert.equal(findSurvival([], NOW), undefined)
    assert.equal(findSurvival([held(null, -1)], NOW), undefined)
  })
})
