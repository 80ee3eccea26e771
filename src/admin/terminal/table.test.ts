import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { renderFields, renderRows, renderTable } from './table.ts'

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
