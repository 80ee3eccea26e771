// Where things stand in the picture of ends. Pure.

export interface Wave {
  /** Buckets, the first and the last. */
  readonly first: number
  readonly last: number
  readonly count: number
}

const TICKS_WANTED = 3
const STEPS = [1, 2, 5]
/** So much more than what is around it is a wave. */
const WAVE_FACTOR = 1.35
const AROUND_BUCKETS = 10
/** Of the highest bucket, below which nothing is worth a name. */
const WAVE_SHARE_MIN = 0.2
const WAVE_COUNT_MIN = 5
const WAVES_MAX = 2

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

/** Neighbours that end together, more than those around them: the highest first, at most two. */
export function findWaves(counts: readonly number[]): Wave[] {
  const least = Math.max(WAVE_COUNT_MIN, WAVE_SHARE_MIN * Math.max(0, ...counts))
  const waves: Wave[] = []
  let first = -1
  for (let at = 0; at <= counts.length; at += 1) {
    const count = counts[at] ?? 0
    const isIn = count >= least && count >= WAVE_FACTOR * meanAround(counts, at)
    if (isIn && first === -1) first = at
    if (!isIn && first !== -1) {
      waves.push({ first, last: at - 1, count: sum(counts.slice(first, at)) })
      first = -1
    }
  }
  return waves.toSorted((a, b) => b.count - a.count).slice(0, WAVES_MAX)
}

function meanAround(counts: readonly number[], at: number): number {
  const around = counts.slice(Math.max(0, at - AROUND_BUCKETS), at + AROUND_BUCKETS + 1)
  return sum(around) / around.length
}

function sum(counts: readonly number[]): number {
  return counts.reduce((total, count) => total + count, 0)
}

/** Marks along the axis: every so many hours, at whole hours of the zone. */
export function hoursBetweenMarks(horizonHours: number, isNarrow: boolean): number {
  const wanted = isNarrow ? 4 : 8
  return [1, 2, 3, 6, 12, 24, 48].find((hours) => horizonHours / hours <= wanted) ?? 48
}

const HOUR_MS = 3_600_000

/** The whole hours of a zone, which in some are half an hour beside those of UTC. `hour` is that of the day. */
export function listWholeHours(
  fromMs: number,
  endMs: number,
  offsetMsAt: (ms: number) => number,
): { readonly ms: number; readonly hour: number }[] {
  const hours: { readonly ms: number; readonly hour: number }[] = []
  for (let from = fromMs; ;) {
    const offsetMs = offsetMsAt(from)
    const ms = Math.ceil((from + offsetMs) / HOUR_MS) * HOUR_MS - offsetMs
    if (ms >= endMs) return hours
    hours.push({ ms, hour: Math.floor((ms + offsetMsAt(ms)) / HOUR_MS) % 24 })
    from = ms + 1
  }
}
