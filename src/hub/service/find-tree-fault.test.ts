import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import type { NodeId } from '../../audit/merkle-tree.ts'
import { Secret } from '../../platform/secret.ts'
import type { LogTree } from '../domain/log-tree.ts'
import type { EndedLog } from './ended-logs.ts'
import { findSubtreeFault, findTreeFault } from './find-tree-fault.ts'
import { beginEpoch, growLogTree, newLogTree, openOfAnyEpoch } from './log-tree.ts'

const VAULT = 'vault'
const RECORDS = Array.from({ length: 1030 }, (_, index) => `record ${index}`)
const GROWN = growLogTree(newLogTree(VAULT), RECORDS)
const THIRD = beginEpoch(beginEpoch(GROWN.tree, VAULT), VAULT, { atLeast: 77 })
const RESTORED = beginEpoch(GROWN.tree, VAULT)
const RESTORED_AGAIN = beginEpoch(GROWN.tree, VAULT, { ended: [endOf(RESTORED)] })

describe('[CHN-37] the tree of a vault', () => {
  test('is good as it was made, in any epoch', () => {
    const later = [RESTORED, THIRD, RESTORED_AGAIN, beginEpoch(RESTORED_AGAIN, VAULT)]
    for (const tree of [newLogTree(VAULT), GROWN.tree, ...later]) {
      assert.equal(findTreeFault(tree, VAULT), undefined)
    }
  })

  test('in which anything was changed is refused in words', () => {
    const { frontier } = THIRD
    const [first = '', second = ''] = THIRD.epochs
    const cases: readonly (readonly [Partial<LogTree>, RegExp])[] = [
      [{ epoch: 78 }, /^the log’s name, cartorio\/vault\/77, is not that of epoch 78/],
      [{ origin: 'cartorio/other/77' }, /^the log’s name/],
      [{ privateKeyDer: new Secret(Buffer.of(1)) }, /^the key that signs checkpoints is damaged/],
      [{ privateKeyDer: newLogTree(VAULT).privateKeyDer }, /^the newest checkpoint is not signed/],
      [{ checkpoint: GROWN.tree.checkpoint }, /^the newest checkpoint is not signed/],
      [{ frontier: { ...frontier, size: 1031 } }, /^the tree is not the one .* of 1030 entries/],
      [
        { frontier: { ...frontier, peaks: frontier.peaks.toReversed() } },
        /^the tree is not the one/,
      ],
      [{ frontier: { ...frontier, peaks: frontier.peaks.slice(1) } }, /^the tree is not the one/],
      [{ cosigned: GROWN.tree.checkpoint }, /^the checkpoint that witnesses have signed is not/],
      [{ epochs: [first] }, /^no statement leads from cartorio\/vault\/2 to cartorio\/vault\/77/],
      [{ epochs: [second] }, /^the statement of the epoch after cartorio\/vault is damaged/],
      [{ epochs: [first, '1'] }, /^the statement of the epoch after cartorio\/vault\/2 is damaged/],
    ]
    const [own = '', other = ''] = RESTORED_AGAIN.epochs
    assert.deepEqual(RESTORED_AGAIN.epochs, [own, other])
    for (const epochs of [
      [other],
      [other, own],
      [own, own],
      [own, other, other],
      [own, other, ''],
    ]) {
      assert.match(findTreeFault({ ...RESTORED_AGAIN, epochs }, VAULT) ?? '', /is damaged$/)
    }
    assert.equal(
      findTreeFault({ ...RESTORED_AGAIN, epochs: [own] }, VAULT),
      'of the 2 logs that ended when cartorio/vault/3 began, the statements of 1 are missing',
    )
    for (const [change, reason] of cases) {
      assert.match(findTreeFault({ ...THIRD, ...change }, VAULT) ?? '', reason)
    }
    assert.match(findTreeFault(THIRD, 'another') ?? '', /^the log’s name/)
  })

  test('keeps no subtree that does not lead to the root', async () => {
    const kept = new Map(GROWN.filled.map(({ level, index, hash }) => [`${level}/${index}`, hash]))
    const reader = {
      listLogNodes: async (ids: readonly NodeId[]) =>
        ids.map(({ level, index }) => kept.get(`${level}/${index}`) ?? assert.fail()),
    }
    assert.equal(await findSubtreeFault(reader, GROWN.tree), undefined)
    assert.equal(kept.size, 7)
    for (const [name, hash] of kept) {
      kept.set(name, Buffer.alloc(32))
      assert.match(
        (await findSubtreeFault(reader, GROWN.tree)) ?? '',
        /^subtree \d of \d+ entries of the log’s tree is not the one that was signed$/,
      )
      kept.set(name, hash)
    }
  })
})

function endOf(tree: LogTree): EndedLog {
  const last = openOfAnyEpoch(tree, tree.checkpoint) ?? assert.fail()
  return { last, base: last }
}
