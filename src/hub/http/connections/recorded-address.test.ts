import assert from 'node:assert/strict'
import { test } from 'node:test'
import { recordedAddress } from './recorded-address.ts'

test('[LOG-5] [API-12] an address is recorded as it is, anything else is unknown', () => {
  for (const address of ['192.0.2.1', '::1', '2001:db8::1', 'fe80::1%eth0', '::ffff:192.0.2.1']) {
    assert.equal(recordedAddress(address), address)
  }
  for (const text of [undefined, '', 'svca_token', '192.0.2.1, 192.0.2.2', 'localhost']) {
    assert.equal(recordedAddress(text), 'unknown')
  }
})
