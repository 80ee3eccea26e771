import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import * as fc from 'fast-check'
import { propertyRuns } from '../../../test/support/property.ts'
import type { CargoId } from '../../protocol/identifiers.ts'
import { parseSelector, type SelectableHost, type Selector } from '../../protocol/selector.ts'
import { findForbiddenNames, type HostRules, possiblyMatching, rulesOfHost } from './host-rules.ts'
import type { Policy, SelectorPolicy } from './policy.ts'
import { findForbiddenSans, rulesOfRole } from './role-rules.ts'

function selector(text: string): Selector {
  const parsed = parseSelector(text)
  return parsed.ok ? parsed.selector : assert.fail(parsed.message)
}

const HOST: SelectableHost = {
  hostname: 'web-1.example',
  role: 'web',
  labels: new Map([
    ['env', 'prod'],
    ['rack', 'r7'],
  ]),
}
const MATCHING = ['env=prod', 'rack', 'role=web', 'name=web-1.example', '!canary', 'env!=stage']
const OTHERS = ['env=stage', 'canary', 'role=db', 'name in (web-2.example)', 'env=prod,canary']
const NAMES = ['a.example', 'b.example', 'c.b.example', '10.0.0.1', 'web-1.example']

const seconds = fc.option(fc.integer({ min: 1, max: 10 * 86_400 }))
const bounds = {
  tokenTtlSecondsMax: seconds,
  certTtlSeconds: seconds,
  permittedSans: fc.array(fc.constantFrom('*', '*.example', '*.b.example', ...NAMES), {
    maxLength: 3,
  }),
  areSansNamed: fc.boolean(),
  automaticCargoes: fc.uniqueArray(fc.constantFrom('x', 'y', 'z') as fc.Arbitrary<CargoId>),
}
const ofRole: fc.Arbitrary<Policy> = fc.record({
  role: fc.constantFrom('web', '*'),
  name: fc.constant('of the role'),
  mayOperatorsReenroll: fc.boolean(),
  ...bounds,
})
const bySelector: fc.Arbitrary<SelectorPolicy> = fc.record({
  name: fc.string({ minLength: 1, maxLength: 3 }),
  selector: fc.constantFrom(...MATCHING, ...OTHERS).map(selector),
  mayOperatorsReenroll: fc.option(fc.boolean()),
  ...bounds,
})
const policies = fc.uniqueArray(bySelector, { selector: ({ name }) => name, maxLength: 5 })

function rulesWith(rows: readonly Policy[], narrowing: readonly SelectorPolicy[]): HostRules {
  return rulesOfHost(rulesOfRole(HOST.role, rows), narrowing, HOST)
}

const forbiddenTo = (rules: HostRules): string[] =>
  findForbiddenNames(rules, HOST.hostname, NAMES).map(({ san }) => san)

describe('[POL-21] what holds for a host', () => {
  test('is what its role says, while no politica with a selector matches', () => {
    fc.assert(
      fc.property(fc.option(ofRole), policies, (row, all) => {
        const rows = row === null ? [] : [row]
        const others = all.map((each) => ({ ...each, selector: selector('env=stage') }))
        const role = rulesOfRole(HOST.role, rows)
        const rules = rulesWith(rows, others)
        const { narrowing, tokenTtlPolicy: _token, certTtlPolicy: _cert, ...same } = rules
        assert.deepEqual([narrowing, same], [[], role])
        assert.deepEqual(forbiddenTo(rules), findForbiddenSans(role, HOST.hostname, NAMES))
      }),
      propertyRuns(),
    )
  })

  test('does not depend on the order of the politicas', () => {
    fc.assert(
      fc.property(ofRole, policies, (row, all) => {
        const rules = rulesWith([row], all)
        assert.deepEqual(rulesWith([row], all.toReversed()), rules)
        assert.deepEqual(
          rulesWith(
            [row],
            all.toSorted(() => 1),
          ),
          rules,
        )
      }),
      propertyRuns(),
    )
  })

  test('is never more than before, whatever politica somebody adds', () => {
    fc.assert(
      fc.property(fc.option(ofRole), policies, bySelector, (row, all, added) => {
        const rows = row === null ? [] : [row]
        const before = rulesWith(rows, all)
        const after = rulesWith(rows, [...all, added])
        assert.ok(after.tokenTtlSecondsMax <= before.tokenTtlSecondsMax)
        assert.ok(after.tokenTtlSecondsDefault <= before.tokenTtlSecondsDefault)
        assert.ok((after.certTtlSeconds ?? Infinity) <= (before.certTtlSeconds ?? Infinity))
        assert.ok(!after.mayOperatorsReenroll || before.mayOperatorsReenroll)
        assert.deepEqual(after.operatorSans, before.operatorSans)
        const forbidden = new Set(forbiddenTo(after))
        for (const san of forbiddenTo(before)) assert.ok(forbidden.has(san))
        assert.ok(!forbidden.has(HOST.hostname))
        for (const cargo of before.automaticCargoes) {
          assert.ok(after.automaticCargoes.includes(cargo))
        }
      }),
      propertyRuns(),
    )
  })

  test('is the least of what those say that match, as an independent reading has it', () => {
    fc.assert(
      fc.property(ofRole, fc.array(fc.tuple(fc.nat(5), bySelector)), (row, drawn) => {
        const matching = drawn.map(([at, each], index) => ({
          ...each,
          name: `${index}`,
          selector: selector(MATCHING[at] ?? ''),
        }))
        const rules = rulesWith([row], matching)
        const least = (values: readonly (number | null)[]): number | undefined =>
          values.filter((value) => value !== null).toSorted((a, b) => a - b)[0]
        const all = [row, ...matching]
        assert.equal(
          rules.tokenTtlSecondsMax,
          least([604_800, ...all.map((each) => each.tokenTtlSecondsMax)]),
        )
        assert.equal(rules.certTtlSeconds, least(all.map((each) => each.certTtlSeconds)))
        const permitted = NAMES.filter((san) =>
          all.every(
            ({ permittedSans }) =>
              findForbiddenSans({ permittedSans }, HOST.hostname, [san]).length === 0,
          ),
        )
        assert.deepEqual(
          NAMES.filter((san) => !forbiddenTo(rules).includes(san)),
          permitted,
        )
        assert.deepEqual(
          new Set(rules.automaticCargoes),
          new Set(all.flatMap(({ automaticCargoes }) => automaticCargoes)),
        )
      }),
      propertyRuns(),
    )
  })

  test('names the politica that says so: of those that say the same, that of the role, else the first by name', () => {
    const none = {
      tokenTtlSecondsMax: null,
      certTtlSeconds: null,
      permittedSans: ['*'],
      areSansNamed: false,
      automaticCargoes: [],
    }
    const web = { ...none, role: 'web', name: 'web', mayOperatorsReenroll: true }
    const narrow = (name: string, rest: object): SelectorPolicy => ({
      ...none,
      name,
      selector: selector('env=prod'),
      mayOperatorsReenroll: null,
      ...rest,
    })
    const two = [narrow('two', { certTtlSeconds: 60 }), narrow('one', { certTtlSeconds: 60 })]
    assert.equal(rulesWith([web], two).certTtlPolicy, 'one')
    assert.equal(rulesWith([{ ...web, certTtlSeconds: 60 }], two).certTtlPolicy, 'web')
    assert.equal(rulesWith([web], []).certTtlPolicy, undefined)
    assert.equal(rulesWith([], two).mayOperatorsReenroll, false)
    assert.equal(rulesWith([web], two).mayOperatorsReenroll, true)
    assert.equal(
      rulesWith([web], [narrow('no', { mayOperatorsReenroll: false })]).mayOperatorsReenroll,
      false,
    )
    const named = [narrow('sans', { permittedSans: ['*.b.example'] })]
    assert.deepEqual(
      findForbiddenNames(
        rulesWith([{ ...web, permittedSans: ['*.example'] }], named),
        HOST.hostname,
        NAMES,
      ),
      [
        { san: 'a.example', policyName: 'sans', isByRole: false },
        { san: 'b.example', policyName: 'sans', isByRole: false },
        { san: '10.0.0.1', policyName: 'web', isByRole: true },
      ],
    )
  })
})

test('[JNR-5] of hosts whose names are yet unknown a politica counts when any name may make it match', () => {
  const counts = (where: string, prefix = 'web-'): boolean => {
    const policy = { selector: selector(where) } as SelectorPolicy
    const { role, labels } = HOST
    return (
      possiblyMatching([policy], { role, labels }, (name) => name.startsWith(prefix)).length > 0
    )
  }
  for (const where of [...MATCHING, 'name=web-9', 'name in (db-1,web-9)', 'name!=web-1', 'name']) {
    assert.ok(counts(where), where)
  }
  for (const where of [
    'env=stage',
    'name=db-1',
    '!name',
    'name=web-9,env=stage',
    'name=web-9,name=db-1',
  ]) {
    assert.ok(!counts(where), where)
  }
})
