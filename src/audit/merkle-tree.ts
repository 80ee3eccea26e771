// The tree over the records of the log: RFC 6962, 2.1 (the same tree as in RFC 9162). A subtree of 2^level leaves that is full never
// changes again, and has one hash; what is not full yet is made of full ones.

import { hash } from 'node:crypto'
import { invariant } from '../platform/errors.ts'

export const HASH_BYTES = 32

/** A full subtree: of 2^level leaves, the first of which has the number index * 2^level, counted from 0. */
export interface NodeId {
  readonly level: number
  readonly index: number
}

export interface TreeNode extends NodeId {
  readonly hash: Buffer
}

/** A tree as far as what comes after it needs it: the hashes of its full subtrees, the largest and oldest first. */
export interface Frontier {
  /** Leaves; its ones in binary are the levels of `peaks`. */
  readonly size: number
  readonly peaks: readonly Buffer[]
}

export const EMPTY_FRONTIER: Frontier = { size: 0, peaks: [] }

export function hashChildren(left: Buffer, right: Buffer): Buffer {
  return hash('sha256', Buffer.concat([NODE_PREFIX, left, right]), 'buffer')
}
const NODE_PREFIX = Buffer.from([1])

/** The tree with these leaves after the others, and each subtree that they have filled, children before their parents. */
export function growTree(
  { size, peaks }: Frontier,
  leaves: readonly Buffer[],
): { readonly frontier: Frontier; readonly filled: readonly TreeNode[] } {
  const stack = [...peaks]
  const filled: TreeNode[] = []
  let count = size
  for (const leaf of leaves) {
    let node: TreeNode = { level: 0, index: count, hash: leaf }
    filled.push(node)
    count += 1
    // Each one at the end of the new size in binary is a subtree that is full now.
    for (let rest = count; rest % 2 === 0; rest /= 2) {
      const left = stack.pop()
      invariant(left !== undefined, 'a frontier has a peak for each one in its size')
      node = {
        level: node.level + 1,
        index: Math.floor(node.index / 2),
        hash: hashChildren(left, node.hash),
      }
      filled.push(node)
    }
    stack.push(node.hash)
  }
  return { frontier: { size: count, peaks: stack }, filled }
}

/** The hash of the whole tree; of an empty one, the hash of nothing. 32 bytes. */
export function rootOf({ peaks }: Pick<Frontier, 'peaks'>): Buffer {
  const [smallest, ...larger] = peaks.toReversed()
  if (smallest === undefined) return hash('sha256', '', 'buffer')
  return larger.reduce((right, left) => hashChildren(left, right), smallest)
}

/**
 * The tree of `size` leaves: this one, and after it the full subtrees of `nodesOf`, by their hashes. Undefined when they are not as
 * many.
 */
export function completeTree(
  frontier: Frontier,
  size: number,
  hashes: readonly Buffer[],
): Frontier | undefined {
  const nodes = nodesOf(frontier.size, size)
  if (nodes.length !== hashes.length) return undefined
  const stack = [...frontier.peaks]
  let count = frontier.size
  for (const [at, subtree] of hashes.entries()) {
    const width = 2 ** (nodes[at]?.level ?? 0)
    count += width
    let node = subtree
    for (let rest = count / width; rest % 2 === 0; rest /= 2) {
      const left = stack.pop()
      invariant(left !== undefined, 'a frontier has a peak for each one in its size')
      node = hashChildren(left, node)
    }
    stack.push(node)
  }
  return { size: count, peaks: stack }
}

/** The full subtrees that the leaves from `start` to before `end` are made of, as a frontier has them. */
export function nodesOf(start: number, end: number): readonly NodeId[] {
  const nodes: NodeId[] = []
  for (let at = start; at < end;) {
    let level = 0
    while (at % 2 ** (level + 1) === 0 && at + 2 ** (level + 1) <= end) level += 1
    nodes.push({ level, index: at / 2 ** level })
    at += 2 ** level
  }
  return nodes
}
