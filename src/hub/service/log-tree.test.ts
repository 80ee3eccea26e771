import assert from 'node:assert/strict'
import { test } from 'node:test'
import { testWitness } from '../../../test/support/test-witness.ts'
import { beginEpoch, findNewestSigned, growLogTree, newLogTree } from './log-tree.ts'

const VAULT = '7c9e6679-7425-40de-944b-e07fc1f90ae7'

test('[CHN-40] of the checkpoints outside, the newest one counts that the log has signed', () => {
  const first = newLogTree(VAULT)
  const [three, five] = [3, 5].map((count) => growLogTree(first, Array(count).fill('x')).tree)
  assert.ok(three && five)
  const later = beginEpoch(three, VAULT)
  const cosigned = testWitness().cosign(five.checkpoint)
  const newestOf = (...notes: readonly string[]): string | undefined =>
    findNewestSigned(first, notes)?.note
  assert.equal(newestOf(three.checkpoint, cosigned), cosigned)
  assert.equal(newestOf(cosigned, three.checkpoint), cosigned)
  assert.equal(newestOf(cosigned, later.checkpoint, three.checkpoint), later.checkpoint)
  const others = growLogTree(newLogTree(VAULT), Array(9).fill('x')).tree.checkpoint
  const madeUp = five.checkpoint.replace('\n5\n', '\n9\n')
  assert.equal(newestOf(others, madeUp, 'x', '', three.checkpoint), three.checkpoint)
  assert.equal(newestOf(others, madeUp), undefined)
})
