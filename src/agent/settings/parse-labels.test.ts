import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { parseSetLabels } from './parse-labels.ts'

describe('[AGV-33] SVC_LABELS', () => {
  test('has labels by comma', () => {
    const labels = parseSetLabels('rack=r7, site=fra ,canary=')
    assert.ok(typeof labels !== 'string')
    assert.deepEqual(Object.fromEntries(labels), { rack: 'r7', site: 'fra', canary: '' })
  })

  const WORD = 'has letters, digits, -, _ and . alone, and begins and ends with a letter or a digit'
  for (const [text, why] of [
    ['rack', 'is not key=value: rack'],
    ['rack=r7,', 'is not key=value: '],
    ['=r7', 'is no label, a key is missing: =r7'],
    ['a b=c', `is no label, a key ${WORD}: a b=c`],
    ['rack=r 7', `is no label, a value ${WORD}: rack=r 7`],
    [`${'k'.repeat(59)}=v`, `is no label, a key has at most 63 bytes: ${'k'.repeat(59)}=v`],
    ['host.rack=r7', 'has host. before the key: host.rack=r7'],
    ['os=plan9', 'cannot say what os is: os=plan9'],
    ['a=1,a=2', 'names a twice'],
    [Array.from({ length: 12 }, (_, at) => `k${at}=v`).join(','), 'has more than 11 labels'],
  ] as const) {
    test(`is not ${text.slice(0, 20)}`, () => assert.equal(parseSetLabels(text), why))
  }
})
