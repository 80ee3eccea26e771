import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { AdminOperationName } from './operations.ts'
import { ADMIN_ROLES, mayPerform, ROLE_NEEDED } from './roles.ts'

const names = Object.keys(ROLE_NEEDED) as AdminOperationName[]

test('[API-8] a viewer only looks, an operator keeps out of what is for admins, an admin may do all', () => {
  const allowed = (role: (typeof ADMIN_ROLES)[number]): AdminOperationName[] =>
    names.filter((name) => mayPerform(role, name))
  for (const name of allowed('viewer')) assert.match(name, /^(list|show)/)
  const ofAdmins = names.filter((name) => !allowed('operator').includes(name))
  assert.deepEqual(ofAdmins.filter((name) => !/Webhooks?$/.test(name)).sort(), [
    'createAccessToken',
    'listAccessTokens',
    'removeAgent',
    'removePolicy',
    'revokeAccessToken',
    'setPolicy',
    'updateBundle',
  ])
  assert.ok(!allowed('operator').some((name) => /Webhooks?$/.test(name)))
  assert.deepEqual(allowed('admin'), names)
  for (const name of allowed('viewer')) assert.ok(allowed('operator').includes(name))
})
