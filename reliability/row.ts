// One promise of the table: how the row tries the promise, and with what result.

import type { Random } from '../test/simulation/seeded-random.ts'

/** `small` is what `npm run test:all` runs; `full` is what docs/reliability.md quotes. */
export type Setting = 'small' | 'full'

export interface RowContext {
  readonly setting: Setting
  /** Seeded by the run's seed and the row's name: a row alone makes the same choices as in a run of all rows. */
  readonly random: Random
  /** The row's own directory, below a directory of the user root; the runner removes it afterwards. */
  readonly directory: string
  /** Tells the person who waits what the row does now. */
  progress(text: string): void
}

export interface RowResult {
  /** What was done, and how often: `1000 kill -9 under load, 48,211 acknowledged writes`. */
  readonly tried: string
  /** Each way in which the promise was broken; empty when it held. */
  readonly broken: readonly string[]
  /** Figures worth knowing: times, counts. */
  readonly measured?: string
  /** Why this machine cannot try the promise; the promise is then neither kept nor broken. */
  readonly skipped?: string
}

export interface ReliabilityRow {
  readonly name: string
  readonly promise: string
  run(context: RowContext): Promise<RowResult>
}
