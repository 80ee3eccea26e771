// How long something is, in the two units that matter: `47 min`, `1 h 31`, `2 d 4 h`.

export interface DurationUnits {
  readonly second: string
  readonly minute: string
  readonly hour: string
  readonly day: string
  readonly years: string
}

const MINUTE_S = 60
const HOUR_S = 3600
const DAY_S = 86_400
const YEAR_DAYS = 365

/** Rounded down, since what is left matters; never negative. */
export function describeDuration(ms: number, units: DurationUnits): string {
  const seconds = Math.max(0, Math.floor(ms / 1000))
  if (seconds < MINUTE_S) return `${seconds} ${units.second}`
  if (seconds < HOUR_S) return `${Math.floor(seconds / MINUTE_S)} ${units.minute}`
  if (seconds < DAY_S) {
    const minutes = Math.floor((seconds % HOUR_S) / MINUTE_S)
    const hours = `${Math.floor(seconds / HOUR_S)} ${units.hour}`
    return minutes === 0 ? hours : `${hours} ${String(minutes).padStart(2, '0')}`
  }
  const days = Math.floor(seconds / DAY_S)
  if (days >= 2 * YEAR_DAYS) return `${Math.floor(days / YEAR_DAYS)} ${units.years}`
  const hours = Math.floor((seconds % DAY_S) / HOUR_S)
  // After three days the hours say nothing.
  return days >= 3 || hours === 0
    ? `${days} ${units.day}`
    : `${days} ${units.day} ${hours} ${units.hour}`
}
