// One answer for all who ask within a second: as many tabs as there are cost what one does. An answer that took long is kept longer,
// so that gathering takes no more than a tenth of the hub's time, whatever state the fleet is in.

import type { Clock } from '../../../../platform/clock.ts'

export interface SharedAnswer<Answer> {
  readonly answer: Answer
  /** When it was asked for. */
  readonly at: Date
}

export interface SharedAnswers {
  /** The same `key` is the same question. */
  ask<Answer>(
    this: void,
    key: string,
    find: (now: Date) => Promise<Answer>,
  ): Promise<SharedAnswer<Answer>>
}

const KEPT_MS = 1000
const TIMES_ITS_COST = 10
/** Nobody waits for one that takes longer: who asks then begins another. */
const UNDER_WAY_MS_MAX = 30_000

interface Kept {
  readonly at: Date
  readonly answer: Promise<unknown>
  /** Undefined while it is under way; nothing for a failure, which is kept no longer than it has to. */
  costMs: number | undefined
}

export function createSharedAnswers(clock: Clock): SharedAnswers {
  const kept = new Map<string, Kept>()
  const findGood = (key: string, now: Date): Kept | undefined => {
    const known = kept.get(key)
    if (known === undefined) return undefined
    const { costMs } = known
    const keptMs =
      costMs === undefined ? UNDER_WAY_MS_MAX : Math.max(KEPT_MS, costMs * TIMES_ITS_COST)
    const ageMs = now.getTime() - known.at.getTime()
    return ageMs >= 0 && ageMs < keptMs ? known : undefined
  }
  const begin = (key: string, now: Date, find: (now: Date) => Promise<unknown>): Kept => {
    const startMs = performance.now()
    const begun: Kept = {
      at: now,
      costMs: undefined,
      answer: find(now).then(
        (answer) => {
          begun.costMs = performance.now() - startMs
          return answer
        },
        (error: unknown) => {
          begun.costMs = 0
          throw error
        },
      ),
    }
    kept.set(key, begun)
    return begun
  }
  return {
    ask: async <Answer>(key: string, find: (now: Date) => Promise<Answer>) => {
      const now = clock.now()
      const { at, answer } = findGood(key, now) ?? begin(key, now, find)
      // The key is that of one question, which has one kind of answer.
      return { at, answer: (await answer) as Answer }
    },
  }
}
