// Proofs by the hashes of the full subtrees before a range of entries and after it, which a hub answers (docs/protocol.md API-80): those
// of one entry, and that a log has grown.

import { carryOutPlan, planConsistency, planInclusion, type ProofPlan } from './merkle-proofs.ts'
import { type NodeId, nodesOf } from './merkle-tree.ts'

export interface RangeHashes {
  readonly left: readonly Buffer[]
  readonly right: readonly Buffer[]
}

/** That entry `seq` is in the log; the range is this entry. */
export function inclusionOf(seq: number, size: number, hashes: RangeHashes): readonly Buffer[] {
  return carryOut(planInclusion(seq - 1, size), { after: seq - 1, until: seq, size }, hashes)
}

/** That the log of `older` entries is the beginning of this one; the range is empty, after these entries. */
export function consistencyOf(older: number, size: number, hashes: RangeHashes): readonly Buffer[] {
  return carryOut(planConsistency(older, size), { after: older, until: older, size }, hashes)
}

interface Range {
  readonly after: number
  readonly until: number
  readonly size: number
}

function carryOut(
  plan: ProofPlan,
  { after, until, size }: Range,
  { left, right }: RangeHashes,
): readonly Buffer[] {
  const nodes = [...nodesOf(0, after), ...nodesOf(until, size)]
  const known = new Map([...left, ...right].map((hash, at) => [nameOf(nodes[at]), hash]))
  return carryOutPlan(
    plan,
    plan.flat().flatMap((node) => known.get(nameOf(node)) ?? []),
  )
}

function nameOf(node: NodeId | undefined): string {
  return `${node?.level}/${node?.index}`
}
