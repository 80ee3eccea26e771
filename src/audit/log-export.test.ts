import assert from 'node:assert/strict'
import { test } from 'node:test'
import { parseExportHead } from './log-export.ts'

test('[CHN-32] a head whose hashes are anything else is no head, however it is built', () => {
  const headWith = (left: string): string =>
    `{"format":"svc-evento-export-v1","after":0,"until":0,"checkpoint":"","key":"","left":${left},"right":[]}`
  assert.ok(parseExportHead(headWith('[]')))
  for (const left of [
    '[{"toString":1}]',
    `${'['.repeat(100_000)}${']'.repeat(100_000)}`,
    '[1]',
    `["${'A'.repeat(44)}"]`,
  ]) {
    assert.equal(parseExportHead(headWith(left)), undefined)
  }
})
