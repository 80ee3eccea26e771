import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { decideLogVerdict, judgeAnchor } from './decide-log-verdict.ts'

const PLACE = { seq: 40, hash: 'a'.repeat(64), timestamp: '2026-11-19T10:00:00.000000Z', peaks: [] }
const CHECKED = { anchor: undefined, from: 0, count: 0, total: 100, finding: undefined } as const

describe('[ADT-3] the verdict on the log', () => {
  test('is good only for what was computed', () => {
    assert.deepEqual(decideLogVerdict({ ...CHECKED, phase: 'done', from: 40, count: 100 }), {
      kind: 'good',
      entries: 100,
      earlier: 40,
    })
    assert.deepEqual(decideLogVerdict({ ...CHECKED, phase: 'stopped', count: 60 }), {
      kind: 'stopped',
      left: 40,
    })
    assert.deepEqual(decideLogVerdict({ ...CHECKED, phase: 'waiting' }), {
      kind: 'waiting',
      left: 100,
    })
    assert.equal(decideLogVerdict({ ...CHECKED, phase: 'done', total: 0 }).kind, 'empty')
    assert.equal(decideLogVerdict({ ...CHECKED, phase: 'done', total: undefined }).kind, 'asking')
  })

  test('is bad with a finding, however far the check came', () => {
    const finding = { kind: 'entry', seq: 7, reason: 'x' } as const
    for (const phase of ['done', 'running', 'failed'] as const) {
      const verdict = decideLogVerdict({ ...CHECKED, phase, count: 100, finding })
      assert.deepEqual(verdict, { kind: 'bad', finding })
    }
  })

  test('an anchor is of this key, and of a log that has it still', () => {
    const judge = (hub: Partial<Parameters<typeof judgeAnchor>[1]>) =>
      judgeAnchor(
        { key: 'k', place: PLACE },
        { key: 'k', total: 100, hashThere: PLACE.hash, ...hub },
      )?.kind
    assert.equal(judge({}), undefined)
    assert.equal(judge({ total: 40 }), undefined)
    assert.equal(judge({ key: 'other' }), 'key')
    assert.equal(judge({ total: 39 }), 'rewritten')
    assert.equal(judge({ hashThere: 'b'.repeat(64) }), 'rewritten')
    assert.equal(judge({ hashThere: undefined }), 'rewritten')
  })
})
