// How far something is: one bar of parts, each of which is a word and a number beside it too.

import type { JSX } from 'preact'
import { formatCount } from '../parts/time.tsx'

export interface BarPart {
  readonly label: string
  readonly count: number
  /** A colour of tokens.css. */
  readonly colour: string
}

export function StackedBar({
  parts,
  total,
  withLegend = true,
}: {
  readonly parts: readonly BarPart[]
  readonly total: number
  readonly withLegend?: boolean
}): JSX.Element {
  const text = parts.map(({ label, count }) => `${label} ${formatCount(count)}`).join(', ')
  return (
    <>
      <div class="bar" role="img" aria-label={text}>
        {parts
          .filter(({ count }) => count > 0)
          .map(({ label, count, colour }) => (
            <i
              key={label}
              style={{
                background: `var(${colour})`,
                flex: `0 0 max(3px, ${(100 * count) / Math.max(1, total)}%)`,
              }}
            />
          ))}
      </div>
      {withLegend && (
        <div class="legend">
          {parts.map(({ label, count, colour }) => (
            <span key={label}>
              <i style={{ background: `var(${colour})` }} />
              {label} <b>{formatCount(count)}</b>
            </span>
          ))}
        </div>
      )}
    </>
  )
}
