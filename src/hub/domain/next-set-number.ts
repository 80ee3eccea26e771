// Which number the next set of roots has. Numbers only grow, and agents read none above 2^31-1: so no operator may jump near the
// end, and at the end, or when an operator says so, a new época begins, in which numbers start again. docs/protocol.md TRU-17.

import { LIMITS } from '../../protocol/limits.ts'
import type { SetNumber } from './root-set.ts'

export interface WantedNumber {
  /** Undefined for the one after the last. */
  readonly number: number | undefined
  readonly isNewEpoch: boolean
  readonly isForced: boolean
}

export type NumberVerdict =
  | ({ readonly ok: true } & SetNumber)
  | { readonly ok: false; readonly reason: NumberRefusal }
export type NumberRefusal = 'not_greater' | 'too_far' | 'too_great'

export function decideSetNumber(last: SetNumber, wanted: WantedNumber): NumberVerdict {
  const { number } = wanted
  if (number === undefined) {
    return { ok: true, ...(wanted.isNewEpoch ? firstOfNext(last) : nextSetNumber(last)) }
  }
  const base = wanted.isNewEpoch ? { ...firstOfNext(last), number: 0 } : last
  if (number <= base.number) return { ok: false, reason: 'not_greater' }
  if (number > LIMITS.rootSetNumberNamedMax) return { ok: false, reason: 'too_great' }
  const isFar = number - base.number > LIMITS.rootSetNumberJumpMax
  if (isFar && !wanted.isForced) return { ok: false, reason: 'too_far' }
  return { ok: true, epoch: base.epoch, number }
}

/** One more, also where there is no number left. */
export function nextSetNumber(last: SetNumber): SetNumber {
  if (last.number >= LIMITS.rootSetNumberMax) return firstOfNext(last)
  return { epoch: last.epoch, number: last.number + 1 }
}

function firstOfNext({ epoch }: SetNumber): SetNumber {
  return { epoch: epoch + 1, number: 1 }
}
