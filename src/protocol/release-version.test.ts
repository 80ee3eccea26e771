import assert from 'node:assert/strict'
import { test } from 'node:test'
import * as fc from 'fast-check'
import { propertyRuns } from '../../test/support/property.ts'
import {
  compareReleaseVersions,
  parseReleaseVersion,
  type ReleaseVersion,
} from './release-version.ts'

test('versions are ordered by number, not by letter', () => {
  const ordered = [
    '0.0.1',
    '0.0.2',
    '0.0.10',
    '0.1.0',
    '0.9.9',
    '0.10.0',
    '1.0.0',
    '2.0.0',
    '10.0.0',
  ]
  const versions = ordered.map((text) => parseReleaseVersion(text) ?? assert.fail(text))
  for (const [i, left] of versions.entries()) {
    for (const [j, right] of versions.entries()) {
      assert.equal(Math.sign(compareReleaseVersions(left, right)), Math.sign(i - j))
    }
  }
})

test('every version is read as it is written, and compares as its numbers do', () => {
  const number = fc.nat({ max: 999_999_999 })
  const version = fc.tuple(number, number, number)
  fc.assert(
    fc.property(version, version, (left, right) => {
      assert.deepEqual(parseReleaseVersion(left.join('.')), left)
      const order = compareReleaseVersions(left, right)
      assert.equal(Math.sign(order), -Math.sign(compareReleaseVersions(right, left)) + 0)
      assert.equal(order === 0, left.join('.') === right.join('.'))
    }),
    propertyRuns(),
  )
})

test('what is no version is none', () => {
  const none: (ReleaseVersion | undefined)[] = [
    '',
    '1',
    '1.2',
    '1.2.3.4',
    ' 1.2.3',
    '1.2.3\n',
    'v1.2.3',
    '1.-2.3',
    '1.2.1e3',
  ].map(parseReleaseVersion)
  assert.deepEqual(new Set(none), new Set([undefined]))
})
