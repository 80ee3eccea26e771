import assert from 'node:assert/strict'
import { test } from 'node:test'
import { findAdminRequestFault } from './requests.ts'

test('a new role may be of any letters, and not of what steers a terminal or a shell', () => {
  const faultOf = (role: string): string | undefined =>
    findAdminRequestFault('createToken', { hostname: 'web-1', role })?.fields['role']
  for (const role of ['web', 'web servers', 'ação', '公証', "it's"]) {
    assert.equal(faultOf(role), undefined, role)
  }
  for (const role of ['', 'a\nb', 'a\u001b[31mb', 'a\u202eb', 'a\u2028b', 'a'.repeat(129)]) {
    assert.match(faultOf(role) ?? '', /^must /, JSON.stringify(role))
  }
  const policy = { role: 'a\nb', cert_ttl: 60 }
  assert.ok(findAdminRequestFault('setPolicy', policy)?.fields['role'])
  assert.equal(findAdminRequestFault('removePolicy', { role: 'a\nb' }), undefined)
})
