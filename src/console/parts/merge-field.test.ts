import assert from 'node:assert/strict'
import { test } from 'node:test'
import { mergeField } from './merge-field.ts'

test('what only the other one changed stays as the other one has it', () => {
  assert.deepEqual(mergeField('5h', '3h', '5h'), { merged: '3h', isClash: false })
})

test('what only this one changed is wanted', () => {
  assert.deepEqual(mergeField('5h', '5h', '8h'), { merged: '8h', isClash: false })
  assert.deepEqual(mergeField('5h', '5h', ''), { merged: '', isClash: false })
})

test('what both changed is wanted, and is a clash unless they agree', () => {
  assert.deepEqual(mergeField('5h', '3h', '8h'), { merged: '8h', isClash: true })
  assert.deepEqual(mergeField('5h', '8h', '8h'), { merged: '8h', isClash: false })
})

test('what nobody changed is as it was', () => {
  assert.deepEqual(mergeField('5h', '5h', '5h'), { merged: '5h', isClash: false })
})
