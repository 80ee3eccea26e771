import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import {
  findGivenKeyFault,
  findKeyFault,
  findValueFault,
  listLabels,
  splitLabel,
  toLabelRecord,
} from './labels.ts'

const WORD = 'has letters, digits, -, _ and . alone, and begins and ends with a letter or a digit'

describe('[LBL-1] a label', () => {
  for (const key of ['env', 'a', '0', 'host.os', 'A_b-c.D', 'constructor', 'k'.repeat(63)]) {
    test(`may have the key ${key}`, () => assert.equal(findKeyFault(key), undefined))
  }
  const badKeys: [key: string, fault: string][] = [
    ['', 'a key is missing'],
    ['-env', `a key ${WORD}`],
    ['env.', `a key ${WORD}`],
    ['__proto__', `a key ${WORD}`],
    ['example.org/env', `a key ${WORD}`],
    ['ënv', `a key ${WORD}`],
    ['env\n', `a key ${WORD}`],
    ['k'.repeat(64), 'a key has at most 63 bytes'],
  ]
  for (const [key, fault] of badKeys) {
    test(`has no key ${JSON.stringify(key.slice(0, 20))}`, () =>
      assert.equal(findKeyFault(key), fault))
  }

  test('has a value of the same form, or an empty one', () => {
    for (const value of ['', 'prod', '1.2.3', 'v'.repeat(63)]) {
      assert.equal(findValueFault(value), undefined)
    }
    assert.equal(findValueFault('v'.repeat(64)), 'a value has at most 63 bytes')
    for (const value of [' ', 'a b', 'a,b', 'a=b', '.a', 'a\n']) {
      assert.equal(findValueFault(value), `a value ${WORD}`)
    }
  })

  test('[LBL-3] that somebody gives has no key of agents, and none that each host has', () => {
    assert.equal(findGivenKeyFault('env'), undefined)
    assert.equal(findGivenKeyFault('hosts'), undefined)
    assert.equal(
      findGivenKeyFault('host.os'),
      'only the agent of a host says what begins with host.',
    )
    assert.equal(findGivenKeyFault('role'), 'each host has a role that no label replaces')
    assert.equal(findGivenKeyFault('name'), 'each host has a name that no label replaces')
    assert.equal(findGivenKeyFault('-'), `a key ${WORD}`)
  })

  test('is written as key=value', () => {
    assert.deepEqual(splitLabel('env=prod'), { key: 'env', value: 'prod' })
    assert.deepEqual(splitLabel('canary='), { key: 'canary', value: '' })
    assert.deepEqual(splitLabel('a=b=c'), { key: 'a', value: 'b=c' })
    assert.equal(splitLabel('canary'), undefined)
  })

  test('is shown by key', () => {
    const labels = new Map([
      ['zone', 'a'],
      ['canary', ''],
    ])
    assert.deepEqual(listLabels(labels), ['canary=', 'zone=a'])
    assert.deepEqual(Object.entries(toLabelRecord(labels)), [
      ['canary', ''],
      ['zone', 'a'],
    ])
  })
})
