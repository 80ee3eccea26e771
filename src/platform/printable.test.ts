import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { printable, printableLines } from './printable.ts'

describe('printable', () => {
  for (const [name, text, expected] of [
    ['an escape sequence', '\u001b]0;title\u0007', '\\u001b]0;title\\u0007'],
    ['a control of C1', '\u009b31m', '\\u009b31m'],
    ['a right-to-left override', 'gpj\u202eexe', 'gpj\\u202eexe'],
    ['an Arabic letter mark', 'a\u061cb', 'a\\u061cb'],
    ['a line separator', 'a\u2028b', 'a\\u2028b'],
  ] as const) {
    test(`writes ${name} as text`, () => assert.equal(printable(text), expected))
  }

  test('leaves letters of all languages alone', () => {
    assert.equal(printable('cartório 公証 🖋'), 'cartório 公証 🖋')
  })
})

test('[AGT-49] controls are written as text, lines and words are kept', () => {
  assert.equal(printableLines('a\nb\tção “x”'), 'a\nb\tção “x”')
  assert.equal(
    printableLines('\u001b]0;x\u0007\r\u009b2J\u007f'),
    '\\u001b]0;x\\u0007\\u000d\\u009b2J\\u007f',
  )
})
