import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { findFiles, readSources } from './source-files.ts'
import { chooseFiles, findStaleEntries, isSeeded, tierOf } from './test-tiers.ts'

const TESTS = findFiles(['src', 'test', 'tools'], ['.test.ts'])

describe('the tiers of the tests', () => {
  test('are by the beginning of the path', () => {
    assert.equal(tierOf('test/versions/admin.test.ts'), 'second')
    assert.equal(tierOf('test/conformance/enroll.test.ts'), 'first')
    assert.equal(tierOf('src/hub/vault/vault.test.ts'), 'first')
  })
  test('leave most stories of the console to a command of their own', () => {
    const sources = TESTS.filter((path) => path.startsWith('test/console/')).map((path) => ({
      path,
      text: '',
    }))
    assert.deepEqual(chooseFiles(sources, 'second').toSorted(), [
      'test/console/acceptance-credentials.test.ts',
      'test/console/harness.test.ts',
      'test/console/hostile-fleet.test.ts',
      'test/console/oidc.test.ts',
      'test/console/sign-in.test.ts',
      'test/console/viewer.test.ts',
    ])
    assert.equal(chooseFiles(sources, 'all').length, sources.length)
  })
  test('name only what is there', () => {
    assert.ok(TESTS.length > 300, `${TESTS.length} test files`)
    assert.deepEqual(findStaleEntries(TESTS), [])
    assert.ok(findStaleEntries(['src/x.test.ts']).includes('test/versions/'))
  })
  test('are each without the other, but for what has a seed', () => {
    const sources = [
      { path: 'src/a.test.ts', text: '' },
      { path: 'src/b.property.test.ts', text: 'propertyRuns<string>(100)' },
      { path: 'test/versions/c.test.ts', text: '' },
    ]
    const paths = sources.map(({ path }) => path)
    assert.deepEqual(chooseFiles(sources, 'first').toSorted(), paths.slice(0, 2))
    assert.deepEqual(chooseFiles(sources, 'second').toSorted(), paths.slice(1))
    assert.deepEqual(chooseFiles(sources, 'all').toSorted(), paths)
  })
})

test('what is left to chance takes its seed from outside', () => {
  const checks = /\bfc\.(?:assert|check|sample)\(/g
  const seeds = /\bpropertyRuns(?:<[^>]*>)?\(|\bseed\b/g
  const left = readSources(TESTS).filter(
    ({ text }) => [...text.matchAll(checks)].length > [...text.matchAll(seeds)].length,
  )
  assert.deepEqual(
    left.map(({ path }) => path),
    [],
  )
  assert.ok(readSources(TESTS).filter(({ text }) => isSeeded(text)).length > 30)
})
