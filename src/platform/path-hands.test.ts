import assert from 'node:assert/strict'
import { chmodSync, chownSync, mkdirSync, mkdtempSync, rmSync, symlinkSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, describe, test } from 'node:test'
import { describeStrangers, findPathHands } from './path-hands.ts'

const A = 65_531
const B = 65_532
const skip = process.geteuid?.() === 0 ? false : 'only root gives files away'

let base: string
beforeEach(() => {
  base = mkdtempSync(join(tmpdir(), 'hands-'))
})
afterEach(() => rmSync(base, { recursive: true }))

/** Below the base; `mode` and owner as told. */
function directory(name: string, uid: number, mode = 0o755): string {
  const path = join(base, name)
  mkdirSync(path, { recursive: true })
  chmodSync(path, mode)
  chownSync(path, uid, uid)
  return path
}

describe('[AGT-47] the hands that a directory is in', { skip }, () => {
  const table: [what: string, make: () => string, stranger: string | undefined][] = [
    ['root’s alone', () => directory('a', 0), undefined],
    ['its owner’s, in one of root’s', () => directory('a', A), undefined],
    ['its owner’s, all the way', () => (directory('a', A), directory('a/b', A)), undefined],
    ['another’s above it', () => (directory('a', A), directory('a/b', B)), 'user 65531'],
    ['another’s above one of root’s', () => (directory('a', A), directory('a/b', 0)), 'user 65531'],
    ['anyone’s above it', () => (directory('a', 0, 0o777), directory('a/b', A)), 'anyone'],
    ['a group’s above it', () => (directory('a', 0, 0o775), directory('a/b', 0)), 'anyone'],
    ['a sticky one above it', () => (directory('a', 0, 0o1777), directory('a/b', A)), undefined],
    ['root’s, and open', () => directory('a', 0, 0o777), 'anyone'],
    ['nothing, in one of root’s', () => join(directory('a', 0), 'b/c'), undefined],
    ['nothing, in a sticky one', () => join(directory('a', 0, 0o1777), 'b'), 'anyone'],
    ['nothing, in another’s', () => join(directory('a', A), 'b'), 'user 65531'],
  ]
  for (const [what, make, stranger] of table) {
    test(what, () => {
      assert.equal(describeStrangers(findPathHands(make())), stranger)
    })
  }

  test('links count by where they lie and where they lead', () => {
    directory('users', A)
    directory('users/data', A)
    symlinkSync(join(base, 'users/data'), join(base, 'by-root'))
    assert.equal(describeStrangers(findPathHands(join(base, 'by-root'))), undefined)
    const { end, hands } = findPathHands(join(base, 'by-root'))
    assert.deepEqual([end?.uid, [...hands]], [A, [A]])
    symlinkSync('../../victims', join(base, 'users/data/link'))
    directory('victims', B)
    assert.equal(describeStrangers(findPathHands(join(base, 'users/data/link'))), 'user 65531')
  })

  test('links without an end are an error', () => {
    symlinkSync('loop', join(base, 'loop'))
    assert.throws(() => findPathHands(join(base, 'loop')), { code: 'too_many_links' })
  })
})
