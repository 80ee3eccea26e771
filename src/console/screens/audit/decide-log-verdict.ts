// What the check says, in one of a few ways; which words that has is for the screen.

import type { RecordFault } from '../../../audit/browser/follow-records.ts'
import type { Anchor } from './anchor.ts'

export type Finding =
  | Extract<RecordFault, { kind: 'entry' | 'tree' }>
  /** The entry of the anchor has another hash, or there is none any more. */
  | { readonly kind: 'rewritten'; readonly has: number }
  | { readonly kind: 'key'; readonly was: string; readonly is: string }
  /** The newest checkpoint is not signed with the key that the hub names. */
  | { readonly kind: 'signature' }

export interface CheckedSoFar {
  readonly phase: 'waiting' | 'running' | 'stopped' | 'done' | 'failed'
  readonly anchor: Pick<Anchor, 'place' | 'keptAt' | 'wholeAt'> | undefined
  /** The check went on after this entry. */
  readonly from: number
  /** And has come to this one. */
  readonly count: number
  /** How many the log has; undefined before the hub said so. */
  readonly total: number | undefined
  readonly finding: Finding | undefined
}

export type LogVerdict =
  | { readonly kind: 'asking' | 'empty' | 'failed' }
  | { readonly kind: 'running' | 'waiting' | 'stopped'; readonly left: number }
  | { readonly kind: 'good'; readonly entries: number; readonly earlier: number }
  | { readonly kind: 'bad'; readonly finding: Finding }

export function decideLogVerdict(checked: CheckedSoFar): LogVerdict {
  const { phase, from, count, total, finding } = checked
  if (finding !== undefined) return { kind: 'bad', finding }
  if (phase === 'failed') return { kind: 'failed' }
  if (total === undefined) return { kind: 'asking' }
  if (total === 0) return { kind: 'empty' }
  if (phase === 'done') return { kind: 'good', entries: count, earlier: from }
  return { kind: phase, left: Math.max(0, total - count) }
}

/** The log is not the one of the anchor when it is shorter, or has another entry there. */
export function judgeAnchor(
  { place, key }: Pick<Anchor, 'place' | 'key'>,
  hub: {
    readonly key: string
    readonly total: number
    readonly hashThere: string | undefined
  },
): Finding | undefined {
  if (hub.key !== key) return { kind: 'key', was: key, is: hub.key }
  if (hub.total < place.seq || hub.hashThere !== place.hash) {
    return { kind: 'rewritten', has: hub.total }
  }
  return undefined
}

/** So many are computed without being asked: some seconds. */
export const ENTRIES_UNASKED_MAX = 50_000

export function startsUnasked(left: number): boolean {
  return left <= ENTRIES_UNASKED_MAX
}
