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
  const sum = parts.reduce((all, { count }) => all + count, 0)
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
                // What is one of thousands is to be seen all the same.
                flex: `${count} 0 3px`,
              }}
            />
          ))}
        {sum < total && <i style={{ flex: `${total - sum} 0 0` }} />}
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
