import assert from 'node:assert/strict'
import { test } from 'node:test'
import { renderCsvLine } from './render-csv.ts'

for (const [cell, expected] of [
  ['plain', 'plain'],
  ['', ''],
  [null, ''],
  [7, '7'],
  [-7, '-7'],
  ['a,b', '"a,b"'],
  ['say "no"', '"say ""no"""'],
  ['two words', '"two words"'],
  ['=1+1', "'=1+1"],
  ['+1', "'+1"],
  ['-1', "'-1"],
  ['@SUM(A1)', "'@SUM(A1)"],
  ['=cmd|"/c calc"!A1', `"'=cmd|""/c calc""!A1"`],
  ['two\nlines', String.raw`two\u000alines`],
  ['\tx', String.raw`'\u0009x`],
] as const) {
  test(`[CLI-53] ${JSON.stringify(cell)} is a harmless cell of CSV`, () => {
    assert.equal(renderCsvLine([cell]), `${expected}\n`)
  })
}
