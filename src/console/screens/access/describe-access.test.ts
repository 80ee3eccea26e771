import assert from 'node:assert/strict'
import { test } from 'node:test'
import { stateOfAdminToken } from './describe-access.ts'

const AT = '2026-11-26T12:00:00Z'

test('a token is good until it expires or somebody revokes it', () => {
  const token = { revoked_at: null, expires_at: AT }
  assert.equal(stateOfAdminToken(token, Date.parse(AT) - 1), 'good')
  assert.equal(stateOfAdminToken(token, Date.parse(AT)), 'expired')
  assert.equal(stateOfAdminToken({ ...token, revoked_at: AT }, Date.parse(AT) - 1), 'revoked')
})
