import assert from 'node:assert/strict'
import { test } from 'node:test'
import { ADMIN_OPERATION_NAMES as names, ADMIN_OPERATIONS } from './operations.ts'
import { type AdminRole, includesRole } from './roles.ts'

test('[API-8] a viewer only looks, an operator keeps out of what is for admins, an admin may do all', () => {
  const allowed = (role: AdminRole) =>
    names.filter((name) => includesRole(role, ADMIN_OPERATIONS[name].role))
  // Who signs in may sign out, and has passkeys.
  const looking =
    /^(list|show|find|plan|summarize|search|endSession$|revokeOwnToken$|prepare|registerPasskey$|removePasskeys$)/
  for (const name of allowed('viewer')) assert.match(name, looking)
  const ofAdmins = names.filter((name) => !allowed('operator').includes(name))
  assert.deepEqual(ofAdmins.filter((name) => !/Webhooks?$/.test(name)).sort(), [
    'applyFleet',
    'archiveEntries',
    'createAccessToken',
    'createSignInLink',
    'listAccessTokens',
    'removeAgent',
    'removeHub',
    'removePolicy',
    'removeSelectorPolicy',
    'revokeAccessToken',
    'setPolicy',
    'setSelectorPolicy',
    'signBundle',
    'updateBundle',
  ])
  assert.ok(!allowed('operator').some((name) => /Webhooks?$/.test(name)))
  assert.deepEqual(allowed('admin'), names)
  for (const name of allowed('viewer')) assert.ok(allowed('operator').includes(name))
})
