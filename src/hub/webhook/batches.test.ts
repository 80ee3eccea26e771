import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { AuditEntry } from '../domain/audit-entry.ts'
import { batchesOf, sizeAfter } from './batches.ts'

/** A page by its letters: `x` is chosen, `-` is not. */
function batches(letters: string, max: number): [skipped: number, entries: number[]][] {
  const page = Array.from(letters, (_, at) => ({ seq: at + 1 }) as AuditEntry)
  const chosen = new Set(page.filter(({ seq }) => letters[seq - 1] === 'x'))
  return [...batchesOf(page, chosen, max)].map(({ skippedSeq, entries }) => [
    skippedSeq,
    entries.map(({ seq }) => seq),
  ])
}

test('[WHK-6] every entry of a page is in a batch, or passed before or after one, in order', () => {
  assert.deepEqual(batches('', 2), [])
  assert.deepEqual(batches('xxxxx', 2), [
    [0, [1, 2]],
    [0, [3, 4]],
    [0, [5]],
  ])
  assert.deepEqual(batches('--x-xx--', 2), [
    [2, [3, 5]],
    [0, [6]],
    [8, []],
  ])
  assert.deepEqual(batches('-x-x-', 1), [
    [1, [2]],
    [3, [4]],
    [5, []],
  ])
  assert.deepEqual(batches('---', 9), [[3, []]])
})

test('[WHK-21] half as many are tried after each failure, and never none', () => {
  assert.deepEqual(
    [0, 1, 2, 6, 7, 5000].map((failures) => sizeAfter(failures, 100)),
    [100, 50, 25, 1, 1, 1],
  )
  assert.equal(sizeAfter(0, 1), 1)
})
