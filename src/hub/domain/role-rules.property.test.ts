import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import * as fc from 'fast-check'
import { anyText, propertyRuns } from '../../../test/support/property.ts'
import { renewalInstant } from '../../agent/identity/certificate-lifetime.ts'
import type { CargoId } from '../../protocol/identifiers.ts'
import type { Policy } from './policy.ts'
import {
  CERT_TTL_SECONDS_MIN,
  findForbiddenSans,
  type RoleRules,
  rulesOfRole,
} from './role-rules.ts'
import { coversName, isSubjectAltName } from './subject-alt-name.ts'

const role = fc.constantFrom('*', 'web', 'db', 'WEB', '')
const label = fc.constantFrom('a', 'b', 'shop', 'x-1', '9', '1')
const host = fc.array(label, { minLength: 1, maxLength: 4 }).map((labels) => labels.join('.'))
const san = fc.oneof(
  fc.tuple(fc.constantFrom('', '*.'), host).map((parts) => parts.join('')),
  fc.ipV4(),
  fc.ipV6(),
)
const seconds = fc.option(fc.integer({ min: 1, max: 10 * 86_400 }))
const policy: fc.Arbitrary<Policy> = fc.record({
  role,
  name: fc.string({ minLength: 1, maxLength: 5 }),
  tokenTtlSecondsMax: seconds,
  certTtlSeconds: seconds,
  permittedSans: fc.array(fc.oneof(san, fc.constant('*')), { maxLength: 4 }),
  areSansNamed: fc.boolean(),
  mayOperatorsReenroll: fc.boolean(),
  automaticCargoes: fc.array(
    fc.uuid().map((id) => id as CargoId),
    { maxLength: 3 },
  ),
})
const policies = fc.uniqueArray(policy, { selector: (each) => each.role, maxLength: 5 })

/** As without policies. */
const NONE: RoleRules = {
  policyName: undefined,
  tokenTtlSecondsMax: 604_800,
  tokenTtlSecondsDefault: 3600,
  certTtlSeconds: undefined,
  permittedSans: ['*'],
  automaticCargoes: [],
  mayOperatorsReenroll: false,
  operatorSans: [],
}

describe('the rules of a role', () => {
  test('[POL-2] are those of its own row alone, else of the row of every role, in whatever order they come', () => {
    fc.assert(
      fc.property(role, policies, (wanted, rows) => {
        const own = rows.filter((each) => each.role === wanted)
        const everybody = rows.filter((each) => each.role === '*')
        const expected = rulesOfRole(wanted, own.length === 1 ? own : everybody)
        assert.deepEqual(rulesOfRole(wanted, rows), expected)
        assert.deepEqual(rulesOfRole(wanted, rows.toReversed()), expected)
      }),
      propertyRuns(500),
    )
  })

  test('[POL-3] are what they were before there were policies, for a role that has none', () => {
    fc.assert(
      fc.property(anyText(), policies, (wanted, rows) => {
        const others = rows.filter((each) => each.role !== '*' && each.role !== wanted)
        assert.deepEqual(rulesOfRole(wanted, others), NONE)
      }),
      propertyRuns(),
    )
    assert.deepEqual(findForbiddenSans(NONE, 'web-1', ['a.example', '*.example', '10.0.0.1']), [])
  })

  test('[POL-5] [POL-6] let no token live longer than the row says, nor than 7d, and no default is refused', () => {
    fc.assert(
      fc.property(policy, (row) => {
        const { tokenTtlSecondsMax, tokenTtlSecondsDefault } = rulesOfRole(row.role, [row])
        assert.equal(tokenTtlSecondsMax, Math.min(row.tokenTtlSecondsMax ?? 604_800, 604_800))
        assert.equal(tokenTtlSecondsDefault, Math.min(3600, tokenTtlSecondsMax))
      }),
      propertyRuns(),
    )
  })
})

describe('the names that a role may have', () => {
  const rulesFor = (permittedSans: readonly string[]): RoleRules => ({ ...NONE, permittedSans })
  const isPermitted = (permitted: readonly string[], name: string): boolean =>
    findForbiddenSans(rulesFor(permitted), 'own.host', [name]).length === 0

  test('[POL-9] always include the agent’s own, and nothing more when none is permitted', () => {
    fc.assert(
      fc.property(host, fc.array(san, { maxLength: 5 }), (own, names) => {
        const forbidden = findForbiddenSans(rulesFor([]), own, [own, ...names])
        assert.deepEqual(
          forbidden,
          names.filter((name) => name !== own),
        )
      }),
      propertyRuns(),
    )
  })

  test('[POL-9] are the exact ones and all below a suffix, as an independent reading of the words has it', () => {
    fc.assert(
      fc.property(fc.array(san, { maxLength: 3 }), san, (permitted, name) => {
        fc.pre(!name.includes(':') && permitted.every((each) => !each.includes(':')))
        const isAddress = /^\d+\.\d+\.\d+\.\d+$/.test(name)
        const labels = name.split('.')
        const expected = permitted.some((each) => {
          if (!each.startsWith('*.')) return each === name
          const suffix = each.split('.').slice(1)
          const isBelow = labels.length > suffix.length
          return (
            !isAddress &&
            isBelow &&
            suffix.every((part, i) => labels.at(i - suffix.length) === part)
          )
        })
        assert.equal(isPermitted(permitted, name), expected)
      }),
      propertyRuns(3000),
    )
  })

  test('[POL-9] permit a wildcard only with every host that it covers', () => {
    fc.assert(
      fc.property(fc.array(san, { maxLength: 3 }), san, host, (permitted, name, covered) => {
        if (!coversName(name, covered) || !isPermitted(permitted, name)) return
        assert.ok(isPermitted(permitted, covered))
      }),
      propertyRuns(3000),
    )
  })

  test('[POL-9] grow with each one that is added, and are all with *', () => {
    fc.assert(
      fc.property(fc.array(san, { maxLength: 3 }), san, san, (permitted, more, name) => {
        if (isPermitted(permitted, name)) assert.ok(isPermitted([...permitted, more], name))
        assert.ok(isPermitted([...permitted, '*'], name))
      }),
      propertyRuns(500),
    )
  })

  test('[POL-9] know an address in each of its spellings, and a name in upper case', () => {
    assert.ok(isPermitted(['2001:db8::1'], '2001:0DB8:0:0::1'))
    assert.ok(isPermitted(['*.example'], 'A.EXAMPLE'))
    assert.ok(!isPermitted(['*.0.0.1'], '127.0.0.1'))
    assert.ok(!isPermitted(['*.0.0.1'], '::ffff:127.0.0.1'))
    assert.ok(!isPermitted(['*.example'], 'example'))
    assert.ok(!isPermitted(['*.example'], 'badexample'))
  })

  test('[POL-9] no text makes the decision throw', () => {
    fc.assert(
      fc.property(fc.array(anyText(20)), anyText(20), (permitted, name) => {
        isPermitted(permitted, name)
        if (isSubjectAltName(name)) assert.ok(isPermitted([name], name))
      }),
      propertyRuns(1000),
    )
  })
})

test('[POL-8] the shortest life leaves an agent of the default settings three attempts, whatever its jitter', () => {
  const serials = fc.string({ minLength: 1 })
  const life = fc.integer({ min: CERT_TTL_SECONDS_MIN, max: 3650 * 86_400 })
  // A poll every 30 s, 10 % more at most; attempts a minute apart at least, each at the next poll after that.
  const threeAttemptsMs = 33_000 + 2 * (60_000 + 33_000)
  fc.assert(
    fc.property(serials, life, fc.integer({ min: 0, max: 60_000 }), (serial, ttl, backdateMs) => {
      const notAfter = new Date(Date.UTC(2026, 0) + ttl * 1000)
      const certificate = { serial, notBefore: new Date(Date.UTC(2026, 0) - backdateMs), notAfter }
      const due = renewalInstant(certificate, 6 * 3_600_000)
      assert.ok(notAfter.getTime() - due.getTime() >= threeAttemptsMs)
    }),
    propertyRuns(),
  )
})
