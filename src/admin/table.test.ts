import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { printable, renderFields, renderRows, renderTable } from './table.ts'

describe('renderTable', () => {
  test('[CLI-14] aligns columns by two blanks, without borders, colours or trailing blanks', () => {
    const rows = [
      ['web-1', 10, 'a b'],
      ['database-1', 2, null],
    ]
    assert.equal(
      renderTable(['HOST', 'N', 'NOTE'], rows),
      ['HOST        N   NOTE', 'web-1       10  a b', 'database-1  2   -', ''].join('\n'),
    )
  })

  test('shows the header alone when there is nothing', () => {
    assert.equal(renderTable(['ID', 'NAME'], []), 'ID  NAME\n')
  })

  test('keeps a row on one line whatever is in it', () => {
    assert.equal(
      renderTable(['ERRO'], [['one\ntwo\u001b[31m']]),
      'ERRO\none\\u000atwo\\u001b[31m\n',
    )
  })
})

describe('renderRows', () => {
  test('shows of each row what its columns say', () => {
    const columns = {
      NAME: ({ name }: { name: string }) => name,
      LENGTH: ({ name }: { name: string }) => name.length,
    }
    assert.equal(
      renderRows(columns, [{ name: 'web' }, { name: 'db' }]),
      ['NAME  LENGTH', 'web   3', 'db    2', ''].join('\n'),
    )
  })
})

describe('renderFields', () => {
  test('prints a line a field, values aligned', () => {
    assert.equal(renderFields({ id: 'x', hostname: null }), 'id        x\nhostname  -\n')
  })
})

describe('printable', () => {
  for (const [name, text, expected] of [
    ['an escape sequence', '\u001b]0;title\u0007', '\\u001b]0;title\\u0007'],
    ['a control of C1', '\u009b31m', '\\u009b31m'],
    ['a right-to-left override', 'gpj\u202eexe', 'gpj\\u202eexe'],
    ['a line separator', 'a\u2028b', 'a\\u2028b'],
  ] as const) {
    test(`writes ${name} as text`, () => assert.equal(printable(text), expected))
  }

  test('leaves letters of all languages alone', () => {
    assert.equal(printable('cartório 公証 🖋'), 'cartório 公証 🖋')
  })
})
