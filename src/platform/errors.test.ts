import assert from 'node:assert/strict'
import { test } from 'node:test'
import { describeError, UserError } from './errors.ts'

test('an error is described with its causes', () => {
  const cause = new Error('the disk is full')
  assert.equal(
    describeError(new Error('cannot write x', { cause })),
    'cannot write x: the disk is full',
  )
})

test('a cause that the message has said already is not said twice', () => {
  const cause = new Error("ENOENT: no such file or directory, open '/x'")
  const error = new UserError('unreadable', `X_FILE: ${cause.message}`, { cause })
  assert.equal(describeError(error), "X_FILE: ENOENT: no such file or directory, open '/x'")
})
