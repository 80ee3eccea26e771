// Durations as Rust's humantime writes them: `30s`, `500ms`, `1h 30m`, `14d`. A bare number is an error.

const SECOND_MS = 1000
const UNIT_MS: Readonly<Record<string, number>> = {
  ...unit(1, 'ms', 'msec', 'millis'),
  ...unit(SECOND_MS, 's', 'sec', 'secs', 'second', 'seconds'),
  ...unit(60 * SECOND_MS, 'm', 'min', 'mins', 'minute', 'minutes'),
  ...unit(3600 * SECOND_MS, 'h', 'hr', 'hrs', 'hour', 'hours'),
  ...unit(86_400 * SECOND_MS, 'd', 'day', 'days'),
  ...unit(7 * 86_400 * SECOND_MS, 'w', 'week', 'weeks'),
  // humantime's month and year are the mean ones of 30.44 and 365.25 days.
  ...unit(2_630_016 * SECOND_MS, 'M', 'month', 'months'),
  ...unit(31_557_600 * SECOND_MS, 'y', 'yr', 'year', 'years'),
}

function unit(milliseconds: number, ...names: string[]): Record<string, number> {
  return Object.fromEntries(names.map((name) => [name, milliseconds]))
}

/** Milliseconds of a humantime duration, or undefined when the text is not one. */
export function parseDurationMs(text: string): number | undefined {
  const parts = /^\s*(?:\d+\s*[A-Za-z]+\s*)+$/.test(text)
    ? text.matchAll(/(\d+)\s*([A-Za-z]+)/g)
    : []
  let total: number | undefined
  for (const [, digits, unitName] of parts) {
    const factor = Object.hasOwn(UNIT_MS, unitName ?? '') ? UNIT_MS[unitName ?? ''] : undefined
    if (factor === undefined) return undefined
    total = (total ?? 0) + Number(digits) * factor
  }
  return total !== undefined && Number.isSafeInteger(total) ? total : undefined
}

/** The shortest exact humantime text of a whole number of milliseconds: `1h 30m`. */
export function formatDurationMs(durationMs: number): string {
  const words: string[] = []
  let rest = durationMs
  for (const name of ['d', 'h', 'm', 's', 'ms']) {
    const size = UNIT_MS[name] ?? 1
    const count = Math.floor(rest / size)
    if (count > 0) words.push(`${count}${name}`)
    rest -= count * size
  }
  return words.join(' ') || '0s'
}
