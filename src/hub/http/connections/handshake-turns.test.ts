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

  test('[LIM-43] certificates come first, then those that wait to begin, in their order, one in a turn', async () => {
    for (const name of ['at once', 'first', 'second']) begin(name)
    verify('certificate')
    assert.deepEqual(done, ['at once'])
    await nextTurn()
    assert.deepEqual(done, ['at once', 'certificate'])
    await nextTurn()
    begin('third')
    nowMs = 1000
    await nextTurn()
    await nextTurn()
    assert.deepEqual(done, ['at once', 'certificate', 'first', 'second', 'third'])
  })

  test('[LIM-43] the newest comes first as long as one has waited for more than 1 s', async () => {
    for (const name of ['at once', 'old']) begin(name)
    nowMs = 1001
    for (const name of ['new', 'newest']) begin(name)
    for (let turn = 0; turn < 3; turn += 1) await nextTurn()
    assert.deepEqual(done, ['at once', 'newest', 'new', 'old'])
  })

  test('[LIM-43] of clients that want one handshake after the other none is left waiting', async () => {
    for (const name of ['a', 'b', 'c', 'd']) begin(name)
    for (let turn = 0; turn < 40; turn += 1) {
      // Who has been served comes again at once.
      if (turn < 36) begin(done.at(-1) ?? '')
      nowMs += 2
      await nextTurn()
    }
    const counts = ['a', 'b', 'c', 'd'].map((name) => done.filter((one) => one === name).length)
    assert.ok(Math.max(...counts) - Math.min(...counts) <= 1, String(counts))
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
