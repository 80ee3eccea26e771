import assert from 'node:assert/strict'
import { test } from 'node:test'
import { coversName, isSubjectAltName } from './subject-alt-name.ts'

test('[DEL-15] a name is a DNS name, with a leading wildcard at most, or an address', () => {
  for (const good of ['a', 'a.b', '*.a.b', '192.0.2.1', '2001:db8::1', '::']) {
    assert.equal(isSubjectAltName(good), true, good)
  }
  for (const bad of [
    '',
    '*',
    '*.',
    '**.a',
    'a.*',
    '*.*.a',
    'a_b',
    'A.b',
    'a b',
    'a.',
    '[::1]',
    'fe80::1%eth0',
  ]) {
    assert.equal(isSubjectAltName(bad), false, bad)
  }
})

test('[DEL-15] an IPv6 address is the same in all its spellings', () => {
  assert.ok(coversName('2001:db8::1', '2001:0DB8:0:0::1'))
  assert.ok(!coversName('2001:db8::1', '2001:db8::2'))
})

test('[DEL-15] a wildcard covers one label, and case does not matter', () => {
  const rows: readonly (readonly [string, string, boolean])[] = [
    ['hub.example', 'hub.example', true],
    ['HUB.example', 'hub.EXAMPLE', true],
    ['*.example', 'hub.example', true],
    ['*.Example', 'hub.example', true],
    ['*.example', 'example', false],
    ['*.example', 'a.hub.example', false],
    ['hub.example', 'hub2.example', false],
    ['*.hub', 'hub', false],
    ['192.0.2.1', '192.0.2.1', true],
  ]
  for (const [san, name, expected] of rows) {
    assert.equal(coversName(san, name), expected, `${san} ${name}`)
  }
})
