import assert from 'node:assert/strict'
import { test } from 'node:test'
import { matchPath } from './match-path.ts'

test('a pattern has its fields, decoded', () => {
  assert.deepEqual(matchPath('/hosts', '/hosts'), {})
  assert.deepEqual(matchPath('/hosts/:id', '/hosts/0197a3f1'), { id: '0197a3f1' })
  assert.deepEqual(matchPath('/policies/:role', '/policies/a%2Fb%20c'), { role: 'a/b c' })
})

test('another path, an empty field and broken escapes match nothing', () => {
  for (const path of ['/', '/host', '/hosts/', '/hosts/a/b', '/hosts/%', '/hosts/%E0%A4%A']) {
    assert.equal(matchPath('/hosts/:id', path), undefined, path)
  }
})
