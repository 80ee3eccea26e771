import assert from 'node:assert/strict'
import { hash } from 'node:crypto'
import { describe, test } from 'node:test'
import * as fc from 'fast-check'
import { propertyRuns } from '../../test/support/property.ts'
import {
  carryOutPlan,
  planConsistency,
  planInclusion,
  type ProofPlan,
  verifyConsistency,
  verifyInclusion,
} from './merkle-proofs.ts'
import { EMPTY_FRONTIER, growTree, rootOf } from './merkle-tree.ts'

const SIZE = 300
const LEAVES = Array.from({ length: SIZE }, (_, at) => hash('sha256', `\0leaf ${at}`, 'buffer'))
const NODES = new Map(
  growTree(EMPTY_FRONTIER, LEAVES).filled.map(({ level, index, hash: of }) => [
    `${level}/${index}`,
    of,
  ]),
)
const rootAt = (size: number): Buffer =>
  rootOf(growTree(EMPTY_FRONTIER, LEAVES.slice(0, size)).frontier)

const sizes = fc.integer({ min: 1, max: SIZE })
const places = sizes.chain((size) => fc.tuple(fc.nat({ max: size - 1 }), fc.constant(size)))
const pairs = sizes.chain((newer) => fc.tuple(fc.nat({ max: newer }), fc.constant(newer)))

describe('[CHN-14] a proof', () => {
  test('shows that a leaf is in the tree, and no other leaf, place, size or root', () => {
    fc.assert(
      fc.property(places, fc.nat(), ([index, size], salt) => {
        const proof = carryOut(planInclusion(index, size))
        const claim = { leaf: leafAt(index), index, size, root: rootAt(size) }
        assert.ok(verifyInclusion(claim, proof))
        assert.ok(!verifyInclusion({ ...claim, leaf: altered(claim.leaf, salt) }, proof))
        assert.ok(!verifyInclusion({ ...claim, root: altered(claim.root, salt) }, proof))
        const elsewhere = (index + 1 + (salt % Math.max(1, size - 1))) % size
        if (elsewhere !== index) assert.ok(!verifyInclusion({ ...claim, index: elsewhere }, proof))
        assert.ok(!verifyInclusion({ ...claim, index: size }, proof))
        for (const wrong of wrongly(proof, salt)) assert.ok(!verifyInclusion(claim, wrong))
      }),
      propertyRuns(),
    )
  })

  test('shows that a tree is the beginning of another, and of no other', () => {
    fc.assert(
      fc.property(pairs, fc.nat(), ([before, after], salt) => {
        const proof = carryOut(planConsistency(before, after))
        const [older, newer] = [before, after].map((size) => ({ size, root: rootAt(size) })) as [
          Sized,
          Sized,
        ]
        assert.ok(verifyConsistency(older, newer, proof))
        assert.ok(!verifyConsistency({ ...older, root: altered(older.root, salt) }, newer, proof))
        if (before > 0) {
          assert.ok(!verifyConsistency(older, { ...newer, root: altered(newer.root, salt) }, proof))
        }
        if (before < after) assert.ok(!verifyConsistency(newer, older, proof))
        for (const wrong of wrongly(proof, salt)) assert.ok(!verifyConsistency(older, newer, wrong))
      }),
      propertyRuns(),
    )
  })

  test('of the largest log needs few hashes', () => {
    const size = 2 ** 45 + 2 ** 21 + 5
    const needed = [planInclusion(2 ** 44 + 3, size), planConsistency(2 ** 30 + 7, size)]
    assert.ok(needed.every((plan) => plan.flat().length <= 2 * 46))
  })

  test('with sizes that are no counts is refused', () => {
    const root = rootAt(4)
    for (const size of [-1, 1.5, Number.NaN, 2 ** 60]) {
      assert.ok(!verifyInclusion({ leaf: leafAt(0), index: 0, size, root }, []))
      assert.ok(!verifyConsistency({ size, root }, { size, root }, []))
    }
  })
})

interface Sized {
  readonly size: number
  readonly root: Buffer
}

function carryOut(plan: ProofPlan): readonly Buffer[] {
  const hashes = plan
    .flat()
    .map(({ level, index }) => NODES.get(`${level}/${index}`) ?? assert.fail())
  return carryOutPlan(plan, hashes)
}

function leafAt(index: number): Buffer {
  return LEAVES[index] ?? assert.fail()
}

function altered(bytes: Buffer, salt: number): Buffer {
  const other = Buffer.from(bytes)
  const at = salt % other.length
  other[at] = (other[at] ?? 0) ^ 1
  return other
}

function wrongly(proof: readonly Buffer[], salt: number): readonly (readonly Buffer[])[] {
  const at = salt % Math.max(1, proof.length)
  const longer = [...proof, hash('sha256', 'one more', 'buffer')]
  if (proof.length === 0) return [longer]
  const changed = proof.map((step, place) => (place === at ? altered(step, salt) : step))
  return [longer, changed, proof.slice(1), proof.slice(0, -1)]
}
