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

test('[OVW-6] reasons are grouped, the most frequent first, each with the delivery that was refused last', () => {
  const reasons = createWaitingReasons()
  reasons.note(first, 'ca_failed', at)
  reasons.note(second, 'csr_cn_mismatch', at)
  reasons.note(third, 'ca_failed', at)
  assert.deepEqual(reasons.group(9), [
    { reason: 'ca_failed', count: 2, example: third },
    { reason: 'csr_cn_mismatch', count: 1, example: second },
  ])
  reasons.forget(third)
  reasons.note(second, 'ca_failed', at)
  assert.deepEqual(reasons.group(1), [{ reason: 'ca_failed', count: 2, example: second }])
})
