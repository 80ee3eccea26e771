import assert from 'node:assert/strict'
import { test } from 'node:test'
import { listOldRoots, type Root } from './describe-roots.ts'

const ROOT: Root = {
  fingerprint: 'a'.repeat(64),
  subject: 'CN=Old',
  not_before: '2026-01-01T00:00:00Z',
  not_after: '2027-01-01T00:00:00Z',
  is_valid: true,
  is_hubs_own: false,
  certificados: 7,
}
const OWN = { ...ROOT, subject: 'CN=New', is_hubs_own: true }

test('an old root is one that the hub no longer leads to', () => {
  assert.deepEqual(listOldRoots({ roots: [ROOT, OWN] }), [{ root: ROOT, certificates: 7 }])
  assert.deepEqual(listOldRoots({ roots: [OWN] }), [])
  assert.deepEqual(listOldRoots({ roots: [ROOT] }), [], 'nobody knows which is the own one')
})
