// How large something is, as a person reads it: `12.4 GB`.

const UNITS = ['byte', 'kilobyte', 'megabyte', 'gigabyte', 'terabyte'] as const
const STEP = 1000

export function describeBytes(bytes: number, language: string): string {
  let at = 0
  let left = bytes
  // What would be written as 1,000 is one of the next.
  for (; at < UNITS.length - 1 && Math.round(left) >= STEP; at += 1) left /= STEP
  return new Intl.NumberFormat(language, {
    style: 'unit',
    unit: UNITS[at],
    unitDisplay: 'short',
    maximumFractionDigits: at === 0 || left >= 100 ? 0 : 1,
  }).format(left)
}
