// Entries by day, and what is known of them: computed now, computed earlier, or not computed here.

import type { JSX } from 'preact'
import type { DayBar } from '../screens/audit/day-counts.ts'

export interface DaysWords {
  readonly title: string
  readonly day: string
  readonly entries: string
  readonly state: string
  readonly states: Readonly<Record<DayBar['state'], string>>
  readonly anchor: string
  readonly unknown: string
  readonly count: (count: number) => string
  readonly formatDay: (day: string) => string
}

const WIDTH = 600
const HEIGHT = 40
const GAP = 3

export function Days({
  bars,
  words,
}: {
  readonly bars: readonly DayBar[]
  readonly words: DaysWords
}): JSX.Element | null {
  const [first] = bars
  const last = bars.at(-1)
  if (first === undefined || last === undefined) return null
  const most = Math.max(1, ...bars.map(({ count }) => count ?? 0))
  // A log of one day is no broad block: so many days have room.
  const width = WIDTH / Math.max(bars.length, 14)
  return (
    <figure class="days-picture">
      <svg
        viewBox={`0 0 ${WIDTH} ${HEIGHT + 4}`}
        preserveAspectRatio="none"
        role="img"
        aria-label={words.title}
        class="days-bars"
      >
        {bars.map(({ day, count, state, isAnchor }, at) => {
          const height = count === undefined ? HEIGHT / 2 : 3 + (count / most) * (HEIGHT - 6)
          return (
            <rect
              key={day}
              class={`day ${state}${isAnchor ? ' anchor' : ''}`}
              x={at * width + 2}
              y={HEIGHT + 2 - height}
              width={Math.max(1, width - GAP)}
              height={height}
              rx="2"
            >
              <title>{describeBar({ day, count, state, isAnchor }, words)}</title>
            </rect>
          )
        })}
      </svg>
      <figcaption class="axis">
        <span>{words.formatDay(first.day)}</span>
        {bars.length > 1 && <span>{words.formatDay(last.day)}</span>}
      </figcaption>
      <div class="visually-hidden">
        <table>
          <caption>{words.title}</caption>
          <thead>
            <tr>
              <th scope="col">{words.day}</th>
              <th scope="col">{words.entries}</th>
              <th scope="col">{words.state}</th>
            </tr>
          </thead>
          <tbody>
            {bars.map(({ day, count, state, isAnchor }) => (
              <tr key={day}>
                <th scope="row">{words.formatDay(day)}</th>
                <td>{count === undefined ? words.unknown : words.count(count)}</td>
                <td>
                  {words.states[state]}
                  {isAnchor && `, ${words.anchor}`}
                </td>
              </tr>
            ))}
          </tbody>
        </table>
      </div>
    </figure>
  )
}

function describeBar({ day, count, state }: DayBar, words: DaysWords): string {
  const entries = count === undefined ? words.unknown : words.count(count)
  return `${words.formatDay(day)}: ${entries}, ${words.states[state]}`
}
