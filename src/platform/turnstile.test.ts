import assert from 'node:assert/strict'
import { setImmediate as nextTurn } from 'node:timers/promises'
import { test } from 'node:test'
import { createTurnstile } from './turnstile.ts'

test('one is let through in each turn of the event loop, in their order', async () => {
  const turn = createTurnstile()
  const through: number[] = []
  const arrive = (who: number): void => void turn().then(() => through.push(who))
  const seen: number[][] = []
  arrive(1)
  arrive(2)
  for (const late of [3, undefined, undefined, undefined]) {
    await nextTurn()
    seen.push([...through])
    if (late !== undefined) arrive(late)
  }
  assert.deepEqual(seen, [[1], [1, 2], [1, 2, 3], [1, 2, 3]])
  arrive(4)
  await nextTurn()
  assert.deepEqual(through, [1, 2, 3, 4])
})
