// Where things stand in the picture of ends. Pure.

export interface Wave {
  /** Buckets, the first and the last. */
  readonly first: number
  readonly last: number
  readonly count: number
}

const TICKS_WANTED = 3
const STEPS = [1, 2, 5]
/** So much more than the usual bucket is a wave. */
const WAVE_FACTOR = 2.5
const WAVES_MAX = 3

/** Round numbers up the side, the greatest of which is at most `most`. */
export function ticksUpTo(most: number): number[] {
  if (most < 2) return [0, 1].slice(0, most + 1)
  let step = 1
  for (let ten = 1; most / step > TICKS_WANTED; ten *= 10) {
    for (const by of STEPS) {
      step = by * ten
      if (most / step <= TICKS_WANTED) break
    }
  }
  return Array.from({ length: Math.floor(most / step) + 1 }, (_, at) => at * step)
}

/** Neighbours that end together: the highest first, at most three. */
export function findWaves(counts: readonly number[]): Wave[] {
  const busy = counts.filter((count) => count > 0).toSorted((a, b) => a - b)
  const usual = busy[Math.floor(busy.length / 2)] ?? 0
  const least = Math.max(5, usual * WAVE_FACTOR)
  const waves: Wave[] = []
  let first = -1
  for (let at = 0; at <= counts.length; at += 1) {
    const isIn = (counts[at] ?? 0) >= least
    if (isIn && first === -1) first = at
    if (!isIn && first !== -1) {
      const count = counts.slice(first, at).reduce((sum, one) => sum + one, 0)
      waves.push({ first, last: at - 1, count })
      first = -1
    }
  }
  return waves.toSorted((a, b) => b.count - a.count).slice(0, WAVES_MAX)
}

/** Marks along the axis: every so many hours, at whole hours of the zone. */
export function hoursBetweenMarks(horizonHours: number, isNarrow: boolean): number {
  const wanted = isNarrow ? 4 : 8
  return [1, 2, 3, 6, 12, 24, 48].find((hours) => horizonHours / hours <= wanted) ?? 48
}
