import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import * as fc from 'fast-check'
import { propertyRuns } from '../../../test/support/property.ts'
import { type Hostname, parseHostname } from '../../protocol/identifiers.ts'
import { findPatternFault, matchesPattern } from './name-pattern.ts'

const matches = (pattern: string, hostname: string): boolean =>
  matchesPattern(pattern, hostname as Hostname)

describe('[JNR-3] a pattern of hostnames', () => {
  test('has one * or two within its labels, and ends in a domain without one', () => {
    for (const pattern of [
      'web-*.example.org',
      '*.example.org',
      '*-*.example.org',
      'web-*.*.example.org',
      'i-*-eu.lan',
      'web-1.example.org',
    ]) {
      assert.equal(findPatternFault(pattern), undefined, pattern)
    }
    const faults = {
      'a-*-*-*.example.org': 'has more than 2 *',
      'web-**.example.org': 'has one * after another',
      'web-*': 'must end in a domain without *',
      '*': 'must end in a domain without *',
      'web-1': 'must end in a domain without *',
      'web.*': 'must end in a domain without *',
      'web-1.ex*': 'must end in a domain without *',
    }
    for (const [pattern, fault] of Object.entries(faults)) {
      assert.equal(findPatternFault(pattern), fault, pattern)
    }
    const noName = 'is not a lower-case host name with * in place of some of its letters'
    for (const pattern of ['', 'Web-*.example.org', '-*.example.org', '*..org', '*.example.org.']) {
      assert.equal(findPatternFault(pattern), noName, pattern)
    }
    assert.equal(findPatternFault(`${'a'.repeat(60)}.${'b'.repeat(10)}`), noName)
  })

  test('stands for one character or more of one label', () => {
    for (const [pattern, name, expected] of [
      ['web-*.example.org', 'web-1.example.org', true],
      ['web-*.example.org', 'web-a-b-c.example.org', true],
      ['web-*.example.org', 'web-.example.org', false],
      ['web-*.example.org', 'web-1.eu.example.org', false],
      ['web-*.example.org', 'web-1.example.com', false],
      ['web-*.example.org', 'aweb-1.example.org', false],
      ['web-*.example.org', 'web-1.example.org.evil.org', false],
      ['*.example.org', 'example.org', false],
      ['*-eu-*.lan', 'a-eu-b.lan', true],
      ['*-eu-*.lan', '-eu-b.lan', false],
      ['*-eu-*.lan', 'a-eu-.lan', false],
      // The first place of what is between is too early here, and the next one is as good.
      ['*a*.lan', 'aaa.lan', true],
      ['*a*.lan', 'aa.lan', false],
      ['*ab*.lan', 'ababx.lan', true],
      ['a*a.lan', 'aa.lan', false],
      ['a*a.lan', 'aba.lan', true],
      ['web-1.lan', 'web-1.lan', true],
      ['web-1.lan', 'web-11.lan', false],
    ] as const) {
      assert.equal(matches(pattern, name), expected, `${pattern} ${name}`)
    }
  })

  const letters = fc.string({ unit: fc.constantFrom('a', 'b', '-'), maxLength: 5 })
  const label = fc.array(letters, { minLength: 1, maxLength: 3 }).map((parts) => parts.join('*'))
  const patterns = fc
    .array(label, { minLength: 1, maxLength: 3 })
    .map((labels) => [...labels, 'org'].join('.'))
    .filter((pattern) => findPatternFault(pattern) === undefined)
  const names = fc
    .array(fc.string({ unit: fc.constantFrom('a', 'b', '-'), minLength: 1, maxLength: 9 }), {
      minLength: 1,
      maxLength: 3,
    })
    .map((labels) => [...labels, 'org'].join('.'))
    .filter((name) => parseHostname(name) !== undefined)

  test('matches what a regular expression of the same meaning matches', () => {
    let matched = 0
    fc.assert(
      fc.property(patterns, names, (pattern, name) => {
        const source = pattern.replaceAll('.', String.raw`\.`).replaceAll('*', '[a-z0-9-]+')
        const expected = new RegExp(`^${source}$`).test(name)
        if (expected) matched += 1
        assert.equal(matches(pattern, name), expected, `${pattern} ${name}`)
      }),
      propertyRuns(5000),
    )
    assert.ok(matched > 50, `only ${matched} matched`)
  })

  test('matches what it is filled with, and no name of another domain', () => {
    const filling = fc.string({ unit: fc.constantFrom('a', 'x', '7'), minLength: 1, maxLength: 6 })
    fc.assert(
      fc.property(patterns, filling, filling, (pattern, one, other) => {
        const name = pattern.replace('*', one).replace('*', other)
        assert.ok(matches(pattern, name))
        assert.ok(!matches(pattern, `${name}.evil.com`))
        assert.ok(!matches(pattern, name.replace(/org$/, 'com')))
      }),
      propertyRuns(1000),
    )
  })

  test('costs no more for a name that almost matches', () => {
    const pattern = '*a-a*.lan'
    const name = `${'a'.repeat(59)}.lan`
    const startMs = performance.now()
    for (let round = 0; round < 100_000; round += 1) assert.equal(matches(pattern, name), false)
    assert.ok(performance.now() - startMs < 2000)
  })
})
