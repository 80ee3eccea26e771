// Proofs for sixteen entries at once: the leaves of a block, and the way from the hash over them to the root. Each leaf says which
// record its entry has, so that of sixteen entries the one that was changed is found. docs/protocol.md EVD-6.

import { planInclusion, type ProofPlan, verifyInclusion } from './merkle-proofs.ts'
import { EMPTY_FRONTIER, growTree, type NodeId, rootOf } from './merkle-tree.ts'
import type { Checkpoint } from './checkpoint.ts'

export const BLOCK_ENTRIES = 16

export interface BlockPlan {
  readonly leaves: readonly NodeId[]
  readonly proof: ProofPlan
}

/** Of the block that has the leaves from `block` * 16 on, in the tree of `size` leaves. */
export function planBlock(block: number, size: number): BlockPlan {
  const first = block * BLOCK_ENTRIES
  const count = Math.min(BLOCK_ENTRIES, size - first)
  const leaves = Array.from({ length: count }, (_, at) => ({ level: 0, index: first + at }))
  // A block is a subtree of the tree: the proof of its first leaf goes through its root.
  return { leaves, proof: planInclusion(first, size).slice(Math.ceil(Math.log2(count))) }
}

export function verifyBlock(
  block: number,
  { leaves, proof }: { readonly leaves: readonly Buffer[]; readonly proof: readonly Buffer[] },
  { size, root }: Pick<Checkpoint, 'size' | 'root'>,
): boolean {
  if (leaves.length !== Math.min(BLOCK_ENTRIES, size - block * BLOCK_ENTRIES)) return false
  const leaf = rootOf(growTree(EMPTY_FRONTIER, leaves).frontier)
  const blocks = Math.ceil(size / BLOCK_ENTRIES)
  return verifyInclusion({ leaf, index: block, size: blocks, root }, proof)
}
