// How many entries each day has, and what is known of them: the bars below the verdict. Days are those of UTC, as in the log.

/** `2026-11-22`, and how many entries of it were computed. */
export type DayCount = readonly [day: string, count: number]

export type DayState = 'now' | 'earlier' | 'not'

export interface DayBar {
  readonly day: string
  /** Undefined while nobody has counted them. */
  readonly count: number | undefined
  readonly state: DayState
  readonly isAnchor: boolean
}

export interface KnownDays {
  readonly earlier: readonly DayCount[]
  readonly now: readonly DayCount[]
  /** Of the last entry that was computed, and of the newest one. */
  readonly computedUntil: string | undefined
  readonly newest: string | undefined
  readonly anchorAt: string | undefined
}

const DAY_MS = 86_400_000
const BARS_MAX = 31

export function dayOf(timestamp: string): string {
  return timestamp.slice(0, 10)
}

export function addToDays(days: Map<string, number>, timestamp: string): void {
  const day = dayOf(timestamp)
  days.set(day, (days.get(day) ?? 0) + 1)
}

/** Both together, for the next anchor. */
export function sumDays(earlier: readonly DayCount[], now: readonly DayCount[]): DayCount[] {
  const days = new Map(earlier)
  for (const [day, count] of now) days.set(day, (days.get(day) ?? 0) + count)
  return [...days].toSorted(([one], [other]) => (one < other ? -1 : 1)).slice(-BARS_MAX * 2)
}

/** The last days of the log, oldest first; a day of which a part was computed now is one that was. */
export function decideDays({
  earlier,
  now,
  computedUntil,
  newest,
  anchorAt,
}: KnownDays): readonly DayBar[] {
  if (newest === undefined) return []
  const sums = new Map(sumDays(earlier, now))
  const computedNow = new Set(now.map(([day]) => day))
  const last = dayOf(newest)
  const first = [...sums.keys()].reduce((one, other) => (other < one ? other : one), last)
  const anchorDay = anchorAt === undefined ? undefined : dayOf(anchorAt)
  const bars: DayBar[] = []
  for (let at = Date.parse(last); bars.length < BARS_MAX; at -= DAY_MS) {
    const day = dayOf(new Date(at).toISOString())
    if (day < first) break
    const isComputed = computedUntil !== undefined && day <= dayOf(computedUntil)
    const state = computedNow.has(day) ? 'now' : isComputed ? 'earlier' : 'not'
    const count = sums.get(day) ?? (isComputed ? 0 : undefined)
    bars.unshift({ day, count, state, isAnchor: day === anchorDay })
  }
  return bars
}
