import assert from 'node:assert/strict'
import { test } from 'node:test'
import { printable } from './printable.ts'

test('[AGT-49] controls are replaced, lines and words are kept', () => {
  assert.equal(printable('a\nb\tção “x”'), 'a\nb\tção “x”')
  assert.equal(printable('\u001b]0;x\u0007\r\u009b2J\u007f'), '�]0;x���2J�')
})
