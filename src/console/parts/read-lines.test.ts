import assert from 'node:assert/strict'
import { test } from 'node:test'
import { findNoName, readLines } from './read-lines.ts'

test('each line is one, once, in the order in which it is typed', () => {
  assert.deepEqual(readLines(' b.example\r\na.example\n\nb.example\n'), ['b.example', 'a.example'])
  assert.deepEqual(readLines('web 02!!.demo'), ['web 02!!.demo'])
  assert.deepEqual(readLines(' \n'), [])
})

test('a line that is more than one name is found', () => {
  assert.equal(findNoName(['a.example', 'web 02!!.demo']), 'web 02!!.demo')
  assert.equal(findNoName(['a.example,b.example']), 'a.example,b.example')
  assert.equal(findNoName(['a.example', 'b.example']), undefined)
})
