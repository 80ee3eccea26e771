import assert from 'node:assert/strict'
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, test } from 'node:test'
import { checkLockfile } from './lockfile.ts'
import { ROOT } from './source-files.ts'

const INTEGRITY = `sha512-${'x'.repeat(86)}==`

function lockfileOf(entry: object): string {
  const packages = {
    '': { name: 'cartorio' },
    'node_modules/good': { version: '1.0.0', integrity: INTEGRITY },
    'node_modules/a': { version: '1.0.0', optional: true, ...entry },
  }
  return JSON.stringify({ lockfileVersion: 3, packages })
}

describe('a locked package', () => {
  const seededFaults: readonly (readonly [string, object, string])[] = [
    ['without integrity', {}, 'has no integrity'],
    ['with an empty one', { integrity: '' }, 'has the integrity '],
    ['with a weak one', { integrity: 'sha1-xxxx' }, 'has the integrity sha1-xxxx'],
    [
      'with a weak one beside a strong one',
      { integrity: `sha1-xxxx ${INTEGRITY}` },
      `has the integrity sha1-xxxx ${INTEGRITY}`,
    ],
    [
      'of another registry',
      { integrity: INTEGRITY, resolved: 'https://registry.example/a.tgz' },
      'comes from https://registry.example/a.tgz',
    ],
    [
      'of a repository',
      { resolved: 'git+ssh://git@example.org/a.git#1' },
      'comes from git+ssh://git@example.org/a.git#1',
    ],
    ['that is a link', { link: true, resolved: '../a' }, 'is a link to somewhere else'],
  ]
  for (const [title, entry, fault] of seededFaults) {
    test(`${title} is a fault`, () => {
      assert.deepEqual(checkLockfile(lockfileOf(entry)), {
        count: 2,
        faults: [`node_modules/a: ${fault}`],
      })
    })
  }

  test('with integrity, and of the registry if it says so, is none', () => {
    for (const entry of [
      { integrity: INTEGRITY },
      { integrity: INTEGRITY, resolved: 'https://registry.npmjs.org/a/-/a-1.0.0.tgz' },
    ]) {
      assert.deepEqual(checkLockfile(lockfileOf(entry)), { count: 2, faults: [] })
    }
  })
})

test('all packages of this project are held to a hash', () => {
  const { count, faults } = checkLockfile(readFileSync(join(ROOT, 'package-lock.json'), 'utf8'))
  assert.deepEqual(faults, [])
  assert.ok(count > 200, `saw only ${count}`)
})

test('a lockfile without packages is one that nothing was seen of', () => {
  assert.deepEqual(checkLockfile('{"lockfileVersion": 1}'), { count: 0, faults: [] })
})
