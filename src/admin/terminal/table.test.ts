import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { renderFields, renderLine, renderRows, renderTable, stateWord } from './table.ts'

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
      nome: ({ name }: { name: string }) => name,
      attempts: ({ name }: { name: string }) => name.length,
      status: () => stateWord('falhou'),
    }
    assert.equal(
      renderRows('en', columns, [{ name: 'web' }, { name: 'db' }]),
      ['NAME  ATTEMPTS  STATUS', 'web   3         failed', 'db    2         failed', ''].join('\n'),
    )
  })

  test('[WRD-12] has Portuguese headings and states when they are asked for', () => {
    const columns = { erro: () => null, status: () => stateWord('falhou'), versao: () => 3 }
    assert.equal(
      renderRows('pt', columns, [{}]),
      ['ERRO  STATUS  VERSAO', '-     falhou  3', ''].join('\n'),
    )
  })
})

describe('renderFields', () => {
  test('[WRD-12] translates labels, and labels of a heading and a state', () => {
    const fields = {
      nome: 'site',
      'entregas falhou': 2,
      atrasado: stateWord('no'),
      'of a newer hub': 1,
    }
    assert.equal(
      renderFields('en', fields),
      'name               site\ndeliveries failed  2\nlate               no\nof a newer hub     1\n',
    )
    assert.equal(
      renderFields('pt', fields),
      'nome             site\nentregas falhou  2\natrasado         nao\nof a newer hub   1\n',
    )
  })

  test('prints a line a field, values aligned', () => {
    assert.equal(renderFields('en', { id: 'x', hostname: null }), 'id        x\nhostname  -\n')
  })
})
