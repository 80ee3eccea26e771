import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import * as fc from 'fast-check'
import { anyText, propertyRuns } from '../../test/support/property.ts'
import {
  formatSelector,
  matchesSelector,
  parseSelector,
  type SelectableHost,
  type Selector,
  type SelectorTerm,
} from './selector.ts'

const PLAIN = { noNullPrototype: true } as const
const key = fc.constantFrom(
  'env',
  'zone',
  'host.os',
  'in',
  'notin',
  'a.b-c_D',
  'role',
  'name',
  'k'.repeat(63),
)
const value = fc.constantFrom('prod', 'a', 'in', 'x.y-z', '0', 'v'.repeat(63))
const labels = fc
  .dictionary(
    fc.constantFrom('env', 'zone', 'host.os', 'in', 'notin', 'a.b-c_D'),
    fc.oneof(value, fc.constant('')),
  )
  .map((record) => new Map(Object.entries(record)))
const host: fc.Arbitrary<SelectableHost> = fc.record(
  { hostname: value, role: value, labels },
  PLAIN,
)
const term: fc.Arbitrary<SelectorTerm> = fc.record(
  {
    key,
    values: fc.option(fc.uniqueArray(value, { minLength: 1, maxLength: 4 }), { nil: undefined }),
    isNegated: fc.boolean(),
  },
  PLAIN,
)
const selector: fc.Arbitrary<Selector> = fc.record(
  {
    terms: fc.array(term, { minLength: 1, maxLength: 8 }),
  },
  PLAIN,
)
const space = fc.constantFrom('', ' ', '\t', '   ')

describe('[LBL-5] any selector', () => {
  test('is what its text says, however that is spaced', () => {
    fc.assert(
      fc.property(selector, fc.infiniteStream(space), (wanted, spaces) => {
        const text = formatSelector(wanted).replaceAll(
          /==?|!=|[,()!]/g,
          (mark) => `${next(spaces)}${mark}${next(spaces)}`,
        )
        assert.deepEqual(parseSelector(text), { ok: true, selector: wanted }, text)
      }),
      propertyRuns(500),
    )
  })

  test('matches what all of its terms match, and a term what its opposite does not', () => {
    fc.assert(
      fc.property(selector, host, ({ terms }, one) => {
        const each = terms.map((only) => matchesSelector({ terms: [only] }, one))
        assert.equal(matchesSelector({ terms }, one), each.every(Boolean))
        for (const [at, { isNegated, ...rest }] of terms.entries()) {
          const opposite = { ...rest, isNegated: !isNegated }
          assert.equal(matchesSelector({ terms: [opposite] }, one), !each[at])
        }
      }),
      propertyRuns(500),
    )
  })

  test('matches a set as any of its values, and nothing for a key that the host lacks', () => {
    fc.assert(
      fc.property(term, host, ({ key: wanted, values }, one) => {
        const isIn = (some: readonly string[] | undefined): boolean =>
          matchesSelector({ terms: [{ key: wanted, values: some, isNegated: false }] }, one)
        if (values !== undefined) {
          assert.equal(
            isIn(values),
            values.some((each) => isIn([each])),
          )
          if (isIn(values)) assert.ok(isIn(undefined))
        }
        const isThere = ['role', 'name'].includes(wanted) || one.labels.has(wanted)
        assert.equal(isIn(undefined), isThere)
      }),
      propertyRuns(500),
    )
  })

  test('is refused at a character of its text, or behind the last one', () => {
    const almost = fc.tuple(selector, fc.nat(80), anyText(3)).map(([wanted, at, noise]) => {
      const text = formatSelector(wanted)
      return text.slice(0, at) + noise + text.slice(at + 1)
    })
    fc.assert(
      fc.property(fc.oneof(almost, anyText(40)), (text) => {
        const outcome = parseSelector(text)
        if (outcome.ok) return parseSelector(formatSelector(outcome.selector)).ok
        return outcome.column >= 1 && outcome.column <= text.length + 1 && outcome.message !== ''
      }),
      propertyRuns(1000),
    )
  })
})

function next(stream: fc.Stream<string>): string {
  return stream.next().value ?? ''
}
