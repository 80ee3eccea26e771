import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { countCommonEntries, type EpochBeginning } from './ended-logs.ts'

const began = (epoch: number, from: number, base: number): EpochBeginning => ({ epoch, from, base })

describe('[CHN-21] two logs of one vault have in common', () => {
  test('what the later one began with', () => {
    assert.equal(countCommonEntries([began(5, 1, 15)], { epoch: 1, entries: 33 }, 5), 15)
    assert.equal(countCommonEntries([began(5, 1, 15)], { epoch: 1, entries: 12 }, 5), 12)
    assert.equal(countCommonEntries([], { epoch: 1, entries: 33 }, 1), 33)
  })

  test('the least of what all on the way between them began with', () => {
    const beginnings = [began(5, 1, 15), began(9, 5, 40), began(12, 9, 30)]
    assert.equal(countCommonEntries(beginnings, { epoch: 1, entries: 33 }, 12), 15)
    assert.equal(countCommonEntries(beginnings, { epoch: 5, entries: 33 }, 12), 30)
    assert.equal(countCommonEntries(beginnings, { epoch: 9, entries: 50 }, 12), 30)
  })

  test('what the log has that both came from', () => {
    const beginnings = [began(5, 1, 15), began(9, 1, 20), began(12, 5, 18)]
    assert.equal(countCommonEntries(beginnings, { epoch: 9, entries: 40 }, 12), 15)
    assert.equal(countCommonEntries(beginnings, { epoch: 5, entries: 40 }, 9), 15)
    assert.equal(countCommonEntries(beginnings, { epoch: 5, entries: 17 }, 12), 17)
  })

  test('nothing, as far as anybody knows, when it is not known how one of them began', () => {
    assert.equal(countCommonEntries([began(9, 5, 20)], { epoch: 1, entries: 40 }, 9), 0)
    assert.equal(countCommonEntries([began(9, 9, 20)], { epoch: 1, entries: 40 }, 9), 0)
  })
})
