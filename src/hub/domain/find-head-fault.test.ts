import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { AuditEntry } from './audit-entry.ts'
import { findHeadFault } from './find-head-fault.ts'

// Only number and hash are looked at.
const entry = (seq: number, hash: string) => ({ seq, hash }) as AuditEntry
const head = { seq: 5, hash: 'five' }

test('[CHN-9] a log that is at its head, or ahead of it, is whole', () => {
  assert.equal(findHeadFault(head, entry(5, 'five'), entry(5, 'five')), undefined)
  assert.equal(findHeadFault(head, entry(9, 'nine'), entry(5, 'five')), undefined)
  assert.equal(
    findHeadFault({ seq: 0, hash: 'of no entry' }, entry(9, 'nine'), undefined),
    undefined,
  )
})

test('[CHN-9] a new vault has neither entries nor head', () => {
  assert.equal(findHeadFault(undefined, undefined, undefined), undefined)
})

test('[CHN-9] entries without a head are suspect from the first on', () => {
  assert.equal(findHeadFault(undefined, entry(3, 'three'), undefined)?.seq, 1)
})

test('[CHN-9] a shorter log names the first missing entry', () => {
  assert.equal(findHeadFault(head, entry(3, 'three'), undefined)?.seq, 4)
  assert.equal(findHeadFault(head, undefined, undefined)?.seq, 1)
})

test('[CHN-9] another entry in the place of the head is named', () => {
  assert.equal(findHeadFault(head, entry(7, 'seven'), entry(5, 'other'))?.seq, 5)
})
