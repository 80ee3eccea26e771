import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { renderFields, renderLine, renderRows, renderTable } from './table.ts'

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

  test('counts what is twice as wide on a terminal, or not there at all, as such', () => {
    const names = ['日本語', 'ｱ', '한국', '👩‍🚀', '🇧🇷', 'e\u0301', 'a\u200bb', '✔']
    assert.equal(
      renderTable(
        ['NAME', 'N'],
        names.map((name) => [name, 1]),
      ),
      [
        'NAME    N',
        '日本語  1',
        'ｱ       1',
        '한국    1',
        '👩‍🚀      1',
        '🇧🇷      1',
        'e\u0301       1',
        'a\u200bb      1',
        '✔       1',
        '',
      ].join('\n'),
    )
  })

  test('takes 50,000 rows in less than 5 s of CPU, since its time grows as they do', () => {
    const row = ['web-1.example.org', 'web', 'registered', '2026-11-21T10:00:00.000Z', null, 0]
    const rows = Array.from({ length: 50_000 }, () => row)
    const before = process.cpuUsage()
    renderTable(['HOSTNAME', 'ROLE', 'STATE', 'LAST_SEEN_AT', 'LAST_POLL_AT', 'N'], rows)
    const { user, system } = process.cpuUsage(before)
    assert.ok(user + system < 5_000_000, `${user + system} µs`)
  })

  test('keeps a row on one line whatever is in it', () => {
    assert.equal(
      renderTable(['ERRO'], [['one\ntwo\u001b[31m']]),
      'ERRO\none\\u000atwo\\u001b[31m\n',
    )
  })
})

describe('renderLine', () => {
  test('puts a line under others, whose columns are as wide as they were before it came', () => {
    assert.equal(renderLine([6, 3], ['db', 10, 'x']), 'db      10   x\n')
    assert.equal(renderLine([6, 3], ['database-1', null, '']), 'database-1  -    -\n')
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
