import assert from 'node:assert/strict'
import { setImmediate as nextTurn } from 'node:timers/promises'
import { test } from 'node:test'
import { createOneATurn } from './one-a-turn.ts'

test('[LIM-30] one certificate is verified in a turn of the event loop, the first at once, in their order', async () => {
  const takeTurn = createOneATurn()
  const done: string[] = []
  for (const name of ['first', 'second', 'third']) takeTurn(() => done.push(name))
  assert.deepEqual(done, ['first'])
  await nextTurn()
  assert.deepEqual(done, ['first', 'second'])
  takeTurn(() => done.push('fourth'))
  await nextTurn()
  assert.deepEqual(done, ['first', 'second', 'third'])
  await nextTurn()
  assert.deepEqual(done, ['first', 'second', 'third', 'fourth'])
  await nextTurn()
  takeTurn(() => done.push('fifth'))
  assert.equal(done.at(-1), 'fifth')
})
