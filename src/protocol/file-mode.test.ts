import assert from 'node:assert/strict'
import { test } from 'node:test'
import { formatFileMode, parseFileMode } from './file-mode.ts'

for (const [text, mode] of [
  ['0644', 0o644],
  ['644', 0o644],
  ['0640', 0o640],
  ['0400', 0o400],
  ['0775', 0o775],
] as const) {
  test(`[PSH-22] ${text} is a mode`, () => {
    assert.equal(parseFileMode(text), mode)
    assert.equal(parseFileMode(formatFileMode(mode)), mode)
  })
}

for (const text of [
  '',
  '0',
  '44',
  '0o644',
  '0888',
  '4755',
  '04755',
  '1777',
  '0646',
  '0777',
  '0244',
  '-644',
  ' 644',
  '644\n',
]) {
  test(`[PSH-22] ${JSON.stringify(text)} is none`, () => {
    assert.equal(parseFileMode(text), undefined)
  })
}
