import assert from 'node:assert/strict'
import { hash } from 'node:crypto'
import { describe, test } from 'node:test'
import * as fc from 'fast-check'
import { propertyRuns } from '../../test/support/property.ts'
import { EMPTY_FRONTIER, growTree, hashChildren, nodesOf, rootOf } from './merkle-tree.ts'

/** The leaves, and the roots of the first so many of them, that logs of Certificate Transparency are tested with. */
const LEAVES = [
  '',
  '00',
  '10',
  '2021',
  '3031',
  '40414243',
  '5051525354555657',
  '606162636465666768696a6b6c6d6e6f',
].map((hex) => hash('sha256', Buffer.from(`00${hex}`, 'hex'), 'buffer'))
const ROOTS = [
  'e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855',
  '6e340b9cffb37a989ca544e6bb780a2c78901d3fb33738768511a30617afa01d',
  'fac54203e7cc696cf0dfcb42c92a1d9dbaf70ad9e621f4bd8d98662f00e3c125',
  'aeb6bcfe274b70a14fb067a5e5578264db0fa9b51af5e0ba159158f329e06e77',
  'd37ee418976dd95753c1c73862b9398fa2a2cf9b4ff0fdfe8b30cd95209614b7',
  '4e3bbb1f7b478dcfe71fb631631519a3bca12c9aefca1612bfce4c13a86264d4',
  '76e67dadbcdf1e10e1b74ddc608abd2f98dfb16fbce75277b5232a127f2087ef',
  'ddb89be403809e325750d3d263cd78929c2942b7942a34b77e122c9594a74c8c',
  '5dc9da79a70659a9ad559cb701ded9a2ab9d823aad2f4960cfe370eff4604328',
]

describe('[CHN-13] the tree of the log', () => {
  test('has the roots that every log of this kind has', () => {
    const roots = ROOTS.map((_, size) =>
      rootOf(growTree(EMPTY_FRONTIER, LEAVES.slice(0, size)).frontier),
    )
    assert.deepEqual(
      roots.map((root) => root.toString('hex')),
      ROOTS,
    )
  })

  test('is the same however its leaves came, and has each full subtree once', () => {
    const batches = fc.array(fc.nat({ max: 40 }), { maxLength: 12 })
    fc.assert(
      fc.property(batches, (sizes) => {
        const filled = new Map<string, Buffer>()
        let frontier = EMPTY_FRONTIER
        for (const size of sizes) {
          const leaves = leavesFrom(frontier.size, frontier.size + size)
          const grown = growTree(frontier, leaves)
          for (const { level, index, hash: nodeHash } of grown.filled) {
            assert.ok(!filled.has(`${level}/${index}`))
            filled.set(`${level}/${index}`, nodeHash)
          }
          frontier = grown.frontier
        }
        assert.deepEqual(rootOf(frontier), rootByDefinition(leavesFrom(0, frontier.size)))
        const peaks = nodesOf(0, frontier.size).map(({ level, index }) =>
          filled.get(`${level}/${index}`),
        )
        assert.deepEqual(frontier.peaks, peaks)
      }),
      propertyRuns(),
    )
  })

  test('is made of full subtrees, from whichever leaf to whichever', () => {
    fc.assert(
      fc.property(fc.nat({ max: 2 ** 45 }), fc.nat({ max: 2 ** 20 }), (start, count) => {
        let at = start
        for (const { level, index } of nodesOf(start, start + count)) {
          assert.equal(index * 2 ** level, at)
          at += 2 ** level
        }
        assert.equal(at, start + count)
      }),
      propertyRuns(),
    )
  })
})

function leavesFrom(start: number, end: number): readonly Buffer[] {
  return Array.from({ length: end - start }, (_, offset) =>
    hash('sha256', `\0leaf ${start + offset}`, 'buffer'),
  )
}

/** RFC 6962, 2.1, word by word. */
function rootByDefinition(leaves: readonly Buffer[]): Buffer {
  const [first] = leaves
  if (first === undefined) return hash('sha256', '', 'buffer')
  if (leaves.length === 1) return first
  let split = 1
  while (split * 2 < leaves.length) split *= 2
  return hashChildren(
    rootByDefinition(leaves.slice(0, split)),
    rootByDefinition(leaves.slice(split)),
  )
}
