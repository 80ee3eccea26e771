// Proofs that an entry is in the log, and that a log has only grown: RFC 9162, 2.1.3 and 2.1.4. A proof is planned first, as the full
// subtrees that it needs, so that a store reads all of them at once.

import { timingSafeEqual } from 'node:crypto'
import { invariant } from '../platform/errors.ts'
import { EMPTY_FRONTIER, hashChildren, nodesOf, type NodeId, rootOf } from './merkle-tree.ts'

/** Each hash of the proof, as the full subtrees that it is made of. */
export type ProofPlan = readonly (readonly NodeId[])[]

/** That leaf `index`, from 0, is in the tree of `size` leaves. */
export function planInclusion(index: number, size: number): ProofPlan {
  invariant(index >= 0 && index < size, 'the leaf is in the tree')
  return planPath(index, 0, size)
}

/** That the tree of `older` leaves is the beginning of the tree of `newer`. Nothing has to be shown of an empty tree, or the same. */
export function planConsistency(older: number, newer: number): ProofPlan {
  invariant(older >= 0 && older <= newer, 'a log only grows')
  return older === 0 || older === newer ? [] : planSubproof(older, 0, newer, true)
}

/** `hashes` are those of the plan's subtrees, in its order. */
export function carryOutPlan(plan: ProofPlan, hashes: readonly Buffer[]): readonly Buffer[] {
  let at = 0
  return plan.map((nodes) => {
    const peaks = hashes.slice(at, at + nodes.length)
    at += nodes.length
    return rootOf({ peaks })
  })
}

function planPath(index: number, start: number, end: number): ProofPlan {
  if (end - start === 1) return []
  const split = start + largestPowerBelow(end - start)
  return index < split
    ? [...planPath(index, start, split), nodesOf(split, end)]
    : [...planPath(index, split, end), nodesOf(start, split)]
}

/** `isKnown`: the verifier has the hash of this subtree, since it is the whole older tree. */
function planSubproof(older: number, start: number, end: number, isKnown: boolean): ProofPlan {
  if (older === end) return isKnown ? [] : [nodesOf(start, end)]
  const split = start + largestPowerBelow(end - start)
  return older <= split
    ? [...planSubproof(older, start, split, isKnown), nodesOf(split, end)]
    : [...planSubproof(older, split, end, false), nodesOf(start, split)]
}

function largestPowerBelow(count: number): number {
  let power = 1
  while (power * 2 < count) power *= 2
  return power
}

export interface InclusionClaim {
  readonly leaf: Buffer
  /** From 0. */
  readonly index: number
  readonly size: number
  readonly root: Buffer
}

/** RFC 9162, 2.1.3.2. */
export function verifyInclusion(
  { leaf, index, size, root }: InclusionClaim,
  proof: readonly Buffer[],
): boolean {
  if (!areCounts(index, size) || index >= size) return false
  let [at, last] = [index, size - 1]
  let result = leaf
  for (const step of proof) {
    if (last === 0) return false
    if (at % 2 === 1 || at === last) {
      result = hashChildren(step, result)
      while (at % 2 === 0 && at !== 0) [at, last] = [half(at), half(last)]
    } else result = hashChildren(result, step)
    ;[at, last] = [half(at), half(last)]
  }
  return last === 0 && isSame(result, root)
}

export interface SizedRoot {
  readonly size: number
  readonly root: Buffer
}

/** RFC 9162, 2.1.4.2. The tree of no leaves is the beginning of every tree. */
export function verifyConsistency(
  older: SizedRoot,
  newer: SizedRoot,
  proof: readonly Buffer[],
): boolean {
  if (!areCounts(older.size, newer.size) || older.size > newer.size) return false
  if (older.size === newer.size) return proof.length === 0 && isSame(older.root, newer.root)
  if (older.size === 0) return proof.length === 0 && isSame(older.root, rootOf(EMPTY_FRONTIER))
  let [at, last] = [older.size - 1, newer.size - 1]
  while (at % 2 === 1) [at, last] = [half(at), half(last)]
  // An older tree that is full is the first subtree itself, and its hash not in the proof.
  const [first, ...steps] = at === 0 ? [older.root, ...proof] : proof
  if (first === undefined) return false
  let [ofOlder, ofNewer] = [first, first]
  for (const step of steps) {
    if (last === 0) return false
    if (at % 2 === 1 || at === last) {
      ofOlder = hashChildren(step, ofOlder)
      ofNewer = hashChildren(step, ofNewer)
      while (at % 2 === 0 && at !== 0) [at, last] = [half(at), half(last)]
    } else ofNewer = hashChildren(ofNewer, step)
    ;[at, last] = [half(at), half(last)]
  }
  return last === 0 && isSame(ofOlder, older.root) && isSame(ofNewer, newer.root)
}

/** Not by shifts, which know 32 bits only. */
function half(count: number): number {
  return Math.floor(count / 2)
}

function areCounts(...numbers: readonly number[]): boolean {
  return numbers.every((number) => Number.isSafeInteger(number) && number >= 0)
}

function isSame(one: Buffer, other: Buffer): boolean {
  return one.length === other.length && timingSafeEqual(one, other)
}
