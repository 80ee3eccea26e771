import assert from 'node:assert/strict'
import { test } from 'node:test'
import { listGiven, readLabels } from './read-labels.ts'

test('[LBL-8] only what differs is asked for', () => {
  const given = ['canary=', 'env=prod', 'rack=r7']
  assert.deepEqual(readLabels(given, 'env=stage\nrack=r7, team=db'), {
    ok: true,
    set: { env: 'stage', team: 'db' },
    remove: ['canary'],
  })
  assert.deepEqual(readLabels(given, given.join('\n')), { ok: true, set: {}, remove: [] })
})

test('a line that is no label, or a key that is there twice, is named', () => {
  assert.deepEqual(readLabels([], 'env'), { ok: false, word: 'env' })
  assert.deepEqual(readLabels([], 'env=a env=b'), { ok: false, word: 'env=b' })
})

test('[LBL-3] what the agent reports is not to be changed', () => {
  assert.deepEqual(listGiven(['env=prod', 'host.os=linux']), ['env=prod'])
})
