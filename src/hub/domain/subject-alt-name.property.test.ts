import assert from 'node:assert/strict'
import { isIP } from 'node:net'
import { test } from 'node:test'
import * as fc from 'fast-check'
import { anyText, propertyRuns } from '../../../test/support/property.ts'
import { coversName, isSubjectAltName } from './subject-alt-name.ts'

const label = fc.constantFrom('a', 'b', 'hub', 'x-1', '9')
const host = fc.array(label, { minLength: 1, maxLength: 4 }).map((labels) => labels.join('.'))
const san = fc.tuple(fc.constantFrom('', '*.'), host).map((parts) => parts.join(''))

test('[DEL-15] a name covers itself, in any case, and so does the wildcard in the place of its first label', () => {
  fc.assert(
    fc.property(host, (name) => {
      assert.ok(coversName(name, name) && coversName(name.toUpperCase(), name))
      assert.ok(coversName(name, name.toUpperCase()))
      const [, ...rest] = name.split('.')
      if (rest.length === 0) return
      assert.ok(coversName(`*.${rest.join('.')}`, name))
      assert.ok(coversName(`*.${rest.join('.').toUpperCase()}`, name))
    }),
    propertyRuns(),
  )
})

test('[DEL-15] a wildcard covers the names with one label more than it, and no other', () => {
  fc.assert(
    fc.property(san, host, (pattern, name) => {
      const wanted = pattern.split('.')
      const labels = name.split('.')
      const expected =
        wanted.length === labels.length &&
        wanted.every((part, index) => part === labels[index] || (index === 0 && part === '*'))
      assert.equal(coversName(pattern, name), expected)
    }),
    propertyRuns(1000),
  )
})

test('[DEL-15] of two plain names either covers the other, or neither does', () => {
  const text = fc
    .oneof(host, anyText(10), fc.ipV4(), fc.ipV6())
    .filter((name) => !name.startsWith('*.'))
  fc.assert(
    fc.property(text, text, (a, b) => assert.equal(coversName(a, b), coversName(b, a))),
    propertyRuns(1000),
  )
})

test('[DEL-15] no text makes it throw, and what is taken is an address or labels behind one wildcard at most', () => {
  const near = fc.string({
    unit: fc.constantFrom('*', '.', 'a', '-', '1', ':', '[', ']', '/', 'A'),
  })
  fc.assert(
    fc.property(fc.oneof(anyText(), near, san, fc.ipV4(), fc.ipV6()), (text) => {
      if (!isSubjectAltName(text)) return
      if (isIP(text) === 0) assert.match(text, /^(\*\.)?[a-z0-9]([a-z0-9.-]*[a-z0-9])?$/)
      coversName(text, 'hub.example')
    }),
    propertyRuns(2000),
  )
})
