import assert from 'node:assert/strict'
import { test } from 'node:test'
import * as fc from 'fast-check'
import { anyText, propertyRuns } from '../../test/support/property.ts'
import { parseLogFilter } from './log-filter.ts'

const LEVELS = ['trace', 'debug', 'info', 'warn', 'error', 'off'] as const
const level = fc.constantFrom(...LEVELS)
const label = fc.constantFrom('hub', 'enroll', 'mtls', 'a', 'b')
const module = fc.array(label, { minLength: 1, maxLength: 4 }).map((labels) => labels.join('.'))

/** The level by trying every directive, the longest that fits first. */
function expectedLevel(directives: ReadonlyMap<string, string>, name: string): string {
  const fitting = [...directives.keys()]
    .filter((key) => key !== '' && (name === key || name.startsWith(`${key}.`)))
    .sort((a, b) => b.length - a.length)
  return directives.get(fitting[0] ?? '') ?? 'info'
}

test('[LOG-3] the longest directive that covers a module decides', () => {
  const directives = fc.dictionary(fc.oneof(module, fc.constant('')), level)
  fc.assert(
    fc.property(directives, module, fc.boolean(), (levels, name, isRust) => {
      const entries = Object.entries(levels)
      const text = entries.map(([key, value]) => (key === '' ? value : `${key}=${value}`)).join(',')
      const filter = parseLogFilter(isRust ? text.replaceAll('.', '::') : text)
      assert.equal(filter?.levelOf(name), expectedLevel(new Map(entries), name), text)
    }),
    propertyRuns(1000),
  )
})

test('[LOG-3] no text and no module makes it throw', () => {
  const near = fc.string({
    unit: fc.constantFrom('hub', '=', ',', '.', '::', ' ', 'info', 'off', '_'),
  })
  const texts = fc.oneof(anyText(), near)
  fc.assert(
    fc.property(texts, texts, (text, name) => {
      const filter = parseLogFilter(text)
      if (filter !== undefined) assert.ok(LEVELS.includes(filter.levelOf(name)))
    }),
    propertyRuns(2000),
  )
})
