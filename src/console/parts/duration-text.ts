// A duration as svc takes it: `90d`, `8h`, `15m`, `30s`.

const UNITS = [
  ['d', 86_400],
  ['h', 3600],
  ['m', 60],
  ['s', 1],
] as const

/** In seconds; undefined for what is none. */
export function parseDurationText(text: string): number | undefined {
  const [, count, letter] = /^(\d{1,9})\s*([dhms])$/.exec(text.trim()) ?? []
  const unit = UNITS.find(([name]) => name === letter)
  const seconds = unit === undefined ? 0 : Number(count) * unit[1]
  return seconds > 0 ? seconds : undefined
}

/** In the greatest unit that loses nothing. */
export function durationText(seconds: number): string {
  const [letter, size] = UNITS.find(([, each]) => seconds % each === 0) ?? ['s', 1]
  return `${seconds / size}${letter}`
}
