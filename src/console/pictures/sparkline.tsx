// A figure of the last hour, one a minute; a minute without a figure is a gap.

import type { JSX } from 'preact'

const WIDTH = 240
const HEIGHT = 28

export function Sparkline({
  numbers,
  label,
}: {
  readonly numbers: readonly (number | null)[]
  readonly label: string
}): JSX.Element {
  const most = Math.max(1e-9, ...numbers.filter((one) => one !== null))
  const step = WIDTH / Math.max(1, numbers.length - 1)
  const y = (value: number): number => HEIGHT - 2 - (value / most) * (HEIGHT - 6)
  return (
    <svg
      class="spark"
      viewBox={`0 0 ${WIDTH} ${HEIGHT}`}
      preserveAspectRatio="none"
      role="img"
      aria-label={label}
    >
      {runsOf(numbers).map((run) => {
        const points = run.map(
          ({ at, value }) => `${(at * step).toFixed(1)} ${y(value).toFixed(1)}`,
        )
        const [first = run[0], last = run.at(-1)] = [run[0], run.at(-1)]
        const begin = ((first?.at ?? 0) * step).toFixed(1)
        const end = ((last?.at ?? 0) * step).toFixed(1)
        return (
          <g key={begin}>
            <path
              class="spark-area"
              d={`M${begin} ${HEIGHT}L${points.join('L')}L${end} ${HEIGHT}z`}
            />
            <path class="spark-line" d={`M${points.join('L')}`} />
          </g>
        )
      })}
    </svg>
  )
}

interface Point {
  readonly at: number
  readonly value: number
}

function runsOf(numbers: readonly (number | null)[]): readonly (readonly Point[])[] {
  const runs: Point[][] = []
  let run: Point[] = []
  for (const [at, value] of numbers.entries()) {
    if (value !== null) run.push({ at, value })
    else if (run.length > 0) {
      runs.push(run)
      run = []
    }
  }
  return run.length > 0 ? [...runs, run] : runs
}
