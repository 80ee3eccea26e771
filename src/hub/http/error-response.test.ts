import assert from 'node:assert/strict'
import { test } from 'node:test'
import { ArchiveError } from '../../archive/archive-error.ts'
import { StoreError } from '../store/store-error.ts'
import { refusalOf } from './error-response.ts'

test('[CHN-20] what the hub cannot read now is unavailable, and no bug', () => {
  for (const code of ['segment_missing', 'segment_damaged', 'segment_newer'] as const) {
    assert.equal(refusalOf(new ArchiveError(code, 'it has the entries 1 to 256')), 'unavailable')
  }
  assert.equal(refusalOf(new StoreError('store_unavailable', 'the disk is full')), 'unavailable')
  assert.equal(refusalOf(new StoreError('store_corrupt', 'a page')), 'internal_error')
  assert.equal(refusalOf(new Error('a bug')), 'internal_error')
})
