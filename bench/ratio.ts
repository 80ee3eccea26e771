// A figure is never a time by itself but a ratio to a yardstick measured right before it.

export interface Round {
  readonly subject: number
  readonly yardstick: number
}

export interface Ratio {
  readonly median: number
  readonly min: number
  readonly max: number
  /** Medians of the two sides, for the reader; only the ratio is comparable between machines. */
  readonly subject: number
  readonly yardstick: number
}

export function ratioOf(rounds: readonly Round[]): Ratio {
  const ratios = rounds.map(({ subject, yardstick }) => subject / yardstick)
  return {
    median: medianOf(ratios),
    min: Math.min(...ratios),
    max: Math.max(...ratios),
    subject: medianOf(rounds.map(({ subject }) => subject)),
    yardstick: medianOf(rounds.map(({ yardstick }) => yardstick)),
  }
}

export function medianOf(values: readonly number[]): number {
  const sorted = values.toSorted((a, b) => a - b)
  const middle = sorted.slice(
    Math.floor((sorted.length - 1) / 2),
    Math.floor(sorted.length / 2) + 1,
  )
  return middle.reduce((sum, value) => sum + value, 0) / middle.length
}
