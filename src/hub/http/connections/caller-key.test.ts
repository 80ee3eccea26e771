import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import * as fc from 'fast-check'
import { propertyRuns } from '../../../../test/support/property.ts'
import { callerOf } from './caller-key.ts'

describe('[LIM-25] a caller', () => {
  for (const [address, key, siteKey] of [
    ['192.0.2.1', '192.0.2.1', undefined],
    ['::ffff:192.0.2.1', '192.0.2.1', undefined],
    ['::FFFF:C000:0201', '192.0.2.1', undefined],
    ['2001:db8:1:2:3:4:5:6', '2001:db8:1:2::/64', '2001:db8:1::/48'],
    ['2001:0DB8:0001:0002::1', '2001:db8:1:2::/64', '2001:db8:1::/48'],
    ['2001:db8::', '2001:db8:0:0::/64', '2001:db8:0::/48'],
    ['::1', '0:0:0:0::/64', '0:0:0::/48'],
    ['::', '0:0:0:0::/64', '0:0:0::/48'],
    ['::192.0.2.1', '0:0:0:0::/64', '0:0:0::/48'],
    ['1:2:3:4:5:6:7::', '1:2:3:4::/64', '1:2:3::/48'],
    ['fe80::1%eth0', 'fe80:0:0:0::/64', 'fe80:0:0::/48'],
    ['', '', undefined],
    [undefined, '', undefined],
    ['unknown', 'unknown', undefined],
    ['x'.repeat(100), 'x'.repeat(64), undefined],
  ] as const) {
    test(`at ${address} is ${key}, of ${siteKey}`, () => {
      assert.deepEqual(callerOf(address), { key, siteKey })
    })
  }

  test('is the same at all addresses of a /64, and another at those of another', () => {
    const groups = fc.array(fc.nat(0xffff), { minLength: 8, maxLength: 8 })
    fc.assert(
      fc.property(groups, groups, (one, other) => {
        const [prefix, site] = [one.slice(0, 4), one.slice(0, 3)]
        const at = (numbers: readonly number[]) =>
          callerOf(numbers.map((number) => number.toString(16)).join(':'))
        const neighbour = at([...prefix, ...other.slice(4)])
        const isIpv4 = prefix.every((number) => number === 0)
        if (isIpv4) return
        assert.deepEqual(neighbour, at(one))
        assert.equal(at([...site, ...other.slice(3)]).siteKey, at(one).siteKey)
        const isNeighbour = other.slice(0, 4).join() === prefix.join()
        assert.equal(at(other).key === at(one).key, isNeighbour)
      }),
      propertyRuns(500),
    )
  })
})
