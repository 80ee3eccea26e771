// Where a moment stands in the lanes of a host: the past at one scale left of now, the time to come at another. Pure.

export const PAST_HOURS = { '1h': 1, '6h': 6, '24h': 24, '7d': 168 } as const
export type PastSpan = keyof typeof PAST_HOURS
/** What ends within a shift can be seen coming. */
const FUTURE_HOURS = 6
const HOUR_MS = 3_600_000

export interface LaneScale {
  readonly left: number
  readonly nowX: number
  readonly right: number
  /** Inside the picture, whatever the moment. */
  readonly xAt: (ms: number) => number
  readonly isInside: (ms: number) => boolean
  /** Marks of the axis. */
  readonly marks: readonly number[]
}

export function laneScale(
  span: PastSpan,
  nowMs: number,
  { left, right }: { readonly left: number; readonly right: number },
): LaneScale {
  const pastMs = PAST_HOURS[span] * HOUR_MS
  const futureMs = FUTURE_HOURS * HOUR_MS
  const nowX = left + (right - left) * 0.58
  const xAt = (ms: number): number => {
    const apart = ms - nowMs
    const x =
      apart <= 0
        ? nowX + (apart / pastMs) * (nowX - left)
        : nowX + (apart / futureMs) * (right - nowX)
    return Math.min(right, Math.max(left, x))
  }
  return {
    left,
    nowX,
    right,
    xAt,
    isInside: (ms) => ms >= nowMs - pastMs && ms <= nowMs + futureMs,
    marks: [
      ...marksBetween(nowMs - pastMs, nowMs, pastMs / 4),
      ...marksBetween(nowMs + 1, nowMs + futureMs, HOUR_MS),
    ],
  }
}

const STEPS_MS = [1 / 4, 1 / 2, 1, 2, 3, 6, 12, 24, 48].map((hours) => hours * HOUR_MS)

function marksBetween(fromMs: number, untilMs: number, wantedMs: number): number[] {
  const step = STEPS_MS.find((one) => one >= wantedMs) ?? STEPS_MS.at(-1) ?? HOUR_MS
  const marks: number[] = []
  for (let at = Math.ceil(fromMs / step) * step; at < untilMs; at += step) marks.push(at)
  return marks
}
