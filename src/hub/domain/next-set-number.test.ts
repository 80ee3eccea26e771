import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { decideSetNumber, nextSetNumber, type WantedNumber } from './next-set-number.ts'

const NEXT: WantedNumber = { number: undefined, isNewEpoch: false, isForced: false }
const LAST = { epoch: 1, number: 7 }

describe('[TRU-17] the number of the next set', () => {
  test('is one more, and 1 of the next época where none is left', () => {
    assert.deepEqual(nextSetNumber(LAST), { epoch: 1, number: 8 })
    assert.deepEqual(nextSetNumber({ epoch: 1, number: 2_147_483_646 }), {
      epoch: 1,
      number: 2_147_483_647,
    })
    assert.deepEqual(nextSetNumber({ epoch: 1, number: 2_147_483_647 }), { epoch: 2, number: 1 })
  })

  test('is 1,000 ahead at most, unless it is forced, and a million before the end at most, forced or not', () => {
    const verdictOn = (number: number, isForced = false): unknown =>
      decideSetNumber(LAST, { ...NEXT, number, isForced })
    assert.deepEqual(verdictOn(7), { ok: false, reason: 'not_greater' })
    assert.deepEqual(verdictOn(8), { ok: true, epoch: 1, number: 8 })
    assert.deepEqual(verdictOn(1007), { ok: true, epoch: 1, number: 1007 })
    assert.deepEqual(verdictOn(1008), { ok: false, reason: 'too_far' })
    assert.deepEqual(verdictOn(1008, true), { ok: true, epoch: 1, number: 1008 })
    assert.deepEqual(verdictOn(2_146_483_647, true), { ok: true, epoch: 1, number: 2_146_483_647 })
    for (const number of [2_146_483_648, 2_147_483_647]) {
      assert.deepEqual(verdictOn(number, true), { ok: false, reason: 'too_great' })
    }
  })

  test('counts from the beginning in a new época', () => {
    const verdictOn = (number: number | undefined, isForced = false): unknown =>
      decideSetNumber({ epoch: 4, number: 2_147_483_647 }, { number, isNewEpoch: true, isForced })
    assert.deepEqual(verdictOn(undefined), { ok: true, epoch: 5, number: 1 })
    assert.deepEqual(verdictOn(40), { ok: true, epoch: 5, number: 40 })
    assert.deepEqual(verdictOn(1001), { ok: false, reason: 'too_far' })
    assert.deepEqual(verdictOn(1001, true), { ok: true, epoch: 5, number: 1001 })
    assert.deepEqual(verdictOn(0), { ok: false, reason: 'not_greater' })
  })
})
