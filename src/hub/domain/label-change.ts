// What becomes of the labels of a host.

import { GIVEN_LABELS_MAX, isReported, type Labels } from '../../protocol/labels.ts'
import type { AgentId } from '../../protocol/identifiers.ts'

export interface LabelChange {
  readonly agentId: AgentId
  readonly set: Labels
  readonly removed: readonly string[]
}

/** What is different between two states of a host's labels; undefined when nothing is. */
export function findLabelChange(
  agentId: AgentId,
  before: Labels,
  after: Labels,
): LabelChange | undefined {
  const set = new Map([...after].filter(([key, value]) => before.get(key) !== value))
  const removed = [...before.keys()].filter((key) => !after.has(key))
  return set.size === 0 && removed.length === 0 ? undefined : { agentId, set, removed }
}

/** What is wanted of each host of an act. */
export interface WantedLabels {
  readonly set: Labels
  readonly remove: readonly string[]
}

export function withLabels(before: Labels, { set, remove }: WantedLabels): Labels {
  const after = new Map([...before, ...set])
  for (const key of remove) after.delete(key)
  return after
}

/** Those that tokens and operators gave. */
export function countGiven(labels: Labels): number {
  return [...labels.keys()].filter((key) => !isReported(key)).length
}

/** Whether a change leads beyond the bound; a host that has more, however it came, may have fewer. */
export function hasTooMany(before: Labels, after: Labels): boolean {
  return countGiven(after) > Math.max(GIVEN_LABELS_MAX, countGiven(before))
}

/** What a host has after it has enrolled: what it had and what its token brings, or what its token brings when that is too much. */
export function enrolledLabels(before: Labels, ofToken: Labels): Labels {
  const given = new Map([...before].filter(([key]) => !isReported(key)))
  const both = new Map([...given, ...ofToken])
  return both.size > GIVEN_LABELS_MAX && ofToken.size > 0 ? ofToken : both
}

/** The agent of a host says what all of its labels are; the others stay. */
export function withReported(before: Labels, reported: Labels): Labels {
  return new Map([...[...before].filter(([key]) => !isReported(key)), ...reported])
}
