// A hash as a row of 24 small bars, of its first 24 digits: an eye sees at once where the same row stands again.

import type { JSX } from 'preact'

const BARS = 24
const STEP = 3.5
const HEIGHT = 16

export function HashBars({
  hash,
  label,
}: {
  readonly hash: string
  /** Says the hash to who does not see it; without one a text beside it does. */
  readonly label?: string
}): JSX.Element {
  const digits = Array.from(hash.slice(0, BARS), (digit) => Number.parseInt(digit, 16))
  return (
    <svg
      width={BARS * STEP}
      height={HEIGHT}
      viewBox={`0 0 ${BARS * STEP} ${HEIGHT}`}
      {...(label === undefined
        ? { 'aria-hidden': 'true' as const }
        : { role: 'img' as const, 'aria-label': label })}
    >
      {digits.map((digit, at) => {
        const height = Number.isNaN(digit) ? 0 : ((digit + 1) / 16) * HEIGHT
        return (
          <rect
            key={at}
            x={at * STEP}
            y={HEIGHT - height}
            width="2.5"
            height={height}
            rx="0.8"
            fill="currentColor"
          />
        )
      })}
    </svg>
  )
}

/** `0103 47b3 … 940e`: enough to tell two hashes apart in a table. */
export function shortHash(hash: string): string {
  return `${hash.slice(0, 8)} … ${hash.slice(-8)}`
}
