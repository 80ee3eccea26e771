import type { RolloutCounts } from '../../domain/rollout.ts'

/** Of all waves. */
export function sumCounts(waves: readonly RolloutCounts[]): RolloutCounts {
  const sum = (of: (wave: RolloutCounts) => number): number =>
    waves.reduce((total, wave) => total + of(wave), 0)
  return {
    pending: sum(({ pending }) => pending),
    silent: sum(({ silent }) => silent),
    unprobed: sum(({ unprobed }) => unprobed),
    done: sum(({ done }) => done),
    failed: sum(({ failed }) => failed),
  }
}
