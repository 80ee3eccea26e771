import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { canonicalIpv6 } from './canonical-ipv6.ts'

describe('canonicalIpv6', () => {
  for (const [name, expected] of [
    ['2001:0DB8:0:0:0:0:0:1', '2001:db8::1'],
    ['2001:db8:0:0::1', '2001:db8::1'],
    ['2001:db8::1', '2001:db8::1'],
    ['0:0:0:0:0:0:0:0', '::'],
    ['::ffff:192.0.2.1', '::ffff:c000:201'],
  ] as const) {
    test(`spells ${name} as ${expected}`, () => assert.equal(canonicalIpv6(name), expected))
  }

  for (const name of [
    '192.0.2.1',
    'Hub.Example',
    '*.example',
    '[::1]',
    'FE80::1%eth0',
    '::1::',
    '',
  ]) {
    test(`leaves ${JSON.stringify(name)} as it is`, () => assert.equal(canonicalIpv6(name), name))
  }
})
