import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { DeliveryId } from '../../protocol/identifiers.ts'
import { createWaitingReasons } from './waiting-reasons.ts'

const [first, second, third] = ['1', '2', '3'] as DeliveryId[] as [
  DeliveryId,
  DeliveryId,
  DeliveryId,
]
const at = new Date('2026-11-23T00:00:00Z')

test('[LIM-65] the reasons of the deliveries that were answered last are kept, 300 characters of each', () => {
  const reasons = createWaitingReasons(2)
  reasons.note(first, 'a', at)
  reasons.note(second, 'b'.repeat(400), at)
  reasons.note(first, 'c', at)
  reasons.note(third, 'd', at)
  assert.equal(reasons.find(second), undefined)
  assert.deepEqual(reasons.find(first), { text: 'c', at })
  reasons.note(second, 'b'.repeat(400), at)
  assert.equal(reasons.find(second)?.text.length, 300)
  assert.equal(reasons.find(first), undefined)
  reasons.forget(second)
  assert.equal(reasons.find(second), undefined)
})
