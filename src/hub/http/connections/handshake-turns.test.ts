import assert from 'node:assert/strict'
import { setImmediate as nextTurn } from 'node:timers/promises'
import { beforeEach, describe, test } from 'node:test'
import { createHandshakeTurns, type HandshakeTurns } from './handshake-turns.ts'

describe('the steps of handshakes', () => {
  let turns: HandshakeTurns
  let done: string[]
  let nowMs: number
  let gone: Set<string>
  beforeEach(() => {
    done = []
    nowMs = 0
    gone = new Set()
    turns = createHandshakeTurns({ nowMs: () => nowMs, inReadPhase: (work) => work() })
  })
  const verify = (name: string): void => turns.verify(() => done.push(name))
  const begin = (name: string): void =>
    turns.begin({
      isGone: () => gone.has(name),
      begin: () => done.push(name),
      drop: () => done.push(`${name} dropped`),
    })

  test('[LIM-30] one certificate is verified in a turn of the event loop, the first at once, in their order', async () => {
    for (const name of ['first', 'second', 'third']) verify(name)
    assert.deepEqual(done, ['first'])
    await nextTurn()
    assert.deepEqual(done, ['first', 'second'])
    verify('fourth')
    await nextTurn()
    assert.deepEqual(done, ['first', 'second', 'third'])
    await nextTurn()
    assert.deepEqual(done, ['first', 'second', 'third', 'fourth'])
    await nextTurn()
    verify('fifth')
    assert.equal(done.at(-1), 'fifth')
  })

  test('[LIM-43] certificates come first, then the newest of those that wait to begin, one in a turn', async () => {
    for (const name of ['at once', 'old', 'new']) begin(name)
    verify('certificate')
    assert.deepEqual(done, ['at once'])
    await nextTurn()
    assert.deepEqual(done, ['at once', 'certificate'])
    await nextTurn()
    begin('newest')
    await nextTurn()
    await nextTurn()
    assert.deepEqual(done, ['at once', 'certificate', 'new', 'newest', 'old'])
  })

  test('[LIM-43] whoever has waited for 4 s is dropped, and takes no turn; nor does whoever has gone', async () => {
    for (const name of ['at once', 'too old', 'old', 'gone']) {
      begin(name)
      if (name === 'too old') nowMs = 1
    }
    gone.add('gone')
    nowMs = 4001
    await nextTurn()
    assert.deepEqual(done, ['at once', 'too old dropped', 'old'])
  })

  test('[LIM-43] no more than 16 are dropped in a turn', async () => {
    for (let count = 0; count <= 40; count += 1) begin('hello')
    nowMs = 4001
    await nextTurn()
    assert.equal(done.filter((step) => step === 'hello dropped').length, 16)
  })
})
