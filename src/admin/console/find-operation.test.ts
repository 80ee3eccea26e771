import assert from 'node:assert/strict'
import { test } from 'node:test'
import { findOperation } from './find-operation.ts'

test('[LOC-5] a page asks what its token is, and cannot end it: it is svc’s own', () => {
  assert.equal(findOperation('GET', '/v1/admin/admin-tokens/own'), 'showOwnToken')
  assert.equal(findOperation('POST', '/v1/admin/admin-tokens/revoke-own'), undefined)
  assert.equal(findOperation('POST', '/v1/admin/admin-tokens/revoke'), 'revokeAccessToken')
})
