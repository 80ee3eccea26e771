import assert from 'node:assert/strict'
import { test } from 'node:test'
import * as fc from 'fast-check'
import { propertyRuns } from '../../test/support/property.ts'
import { MinHeap } from './min-heap.ts'

interface Item {
  readonly rank: number
}

test('whatever goes in and out, the least is first', () => {
  const anyStep = fc.oneof(
    { weight: 3, arbitrary: fc.record({ push: fc.nat(20) }) },
    fc.constant('pop' as const),
    fc.record({ remove: fc.nat(20) }),
  )
  fc.assert(
    fc.property(fc.array(anyStep, { maxLength: 60 }), (steps) => {
      const heap = new MinHeap<Item>()
      const model = new Set<Item>()
      for (const step of steps) {
        if (step === 'pop') {
          const popped = heap.pop()
          if (popped !== undefined) model.delete(popped)
        } else if ('push' in step) {
          const item = { rank: step.push }
          model.add(item)
          heap.push(item.rank, item)
        } else {
          const item = [...model][step.remove]
          heap.remove(item ?? { rank: 0 })
          if (item !== undefined) model.delete(item)
        }
        const first = heap.peek()
        assert.equal(first === undefined, model.size === 0)
        if (first === undefined) continue
        assert.equal(first.rank, Math.min(...[...model].map(({ rank }) => rank)))
        assert.equal(first.item.rank, first.rank)
        assert.ok(model.has(first.item))
      }
    }),
    propertyRuns(500),
  )
})
