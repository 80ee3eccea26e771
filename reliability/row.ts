// One promise of the table: how it is tried, and what came of it.

import type { Random } from '../test/simulation/seeded-random.ts'

/** `small` is what `npm run test:all` runs; `full` is what docs/reliability.md quotes. */
export type Setting = 'small' | 'full'

export interface RowContext {
  readonly setting: Setting
  /** Seeded by the run's seed and the row's name: one row alone does what it does among all. */
  readonly random: Random
  /** A directory of the row's own below one of root's, removed afterwards. */
  readonly directory: string
  /** What is under way, for whoever waits. */
  progress(text: string): void
}

export interface RowResult {
  /** What was done, and how often: `1000 kill -9 under load, 48,211 acknowledged writes`. */
  readonly tried: string
  /** Each way in which the promise was broken; empty when it held. */
  readonly broken: readonly string[]
  /** Figures worth knowing: times, counts. */
  readonly measured?: string
  /** Why it could not be tried here; then it is neither kept nor broken. */
  readonly skipped?: string
}

export interface ReliabilityRow {
  readonly name: string
  readonly promise: string
  run(context: RowContext): Promise<RowResult>
}
