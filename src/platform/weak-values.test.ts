import assert from 'node:assert/strict'
import { test } from 'node:test'
import { setImmediate } from 'node:timers/promises'
import { collectGarbage } from '../../test/support/collect-garbage.ts'
import { WeakValues } from './weak-values.ts'

test('weak values keep what is held, and no entry of what is not', async () => {
  const values = new WeakValues<number, object>()
  const held = { name: 'held' }
  values.set(0, held)
  for (let key = 1; key <= 10; key += 1) values.set(key, { key })
  // What was looked at stays until the end of the turn.
  await setImmediate()
  collectGarbage()
  assert.equal(values.get(10), undefined)
  values.set(11, held)
  assert.equal(values.size, 2)
  assert.equal(values.get(0), held)
})
