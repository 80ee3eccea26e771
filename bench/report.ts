// The table for people. Widths are those of the longest cell; `--json` prints the figures themselves.

import type { Aim, Figure } from './figure.ts'

const HEAD = [
  'row',
  'figure',
  'hub',
  'yardstick',
  '',
  'ratio',
  '(min-max)',
  'aim',
  '',
  '/s',
  'p99',
  'note',
]

export function renderReport(figures: readonly Figure[], machine: string): string {
  const notes = [
    machine,
    'ms: CPU time of the server for an operation, user and system, threads and children; the yardstick is measured in turn with the hub, in the same run',
    'ratio: hub to yardstick, median of the rounds after a warm-up; only ratios can be compared between machines and days',
    '/s and p99 are by the clock, and for information: other work on the machine changes them',
  ]
  return `${align([HEAD, ...figures.map(cellsOf)])}\n${notes.map((note) => `${note}\n`).join('')}`
}

function cellsOf(figure: Figure): string[] {
  const { row, what, unit, value, yardstick, aim, isReached, perSecond, p99Ms, note } = figure
  return [
    row,
    what,
    `${plain(value)} ${unit}`,
    yardstick === undefined ? '' : `${plain(yardstick.yardstick)} ${unit}`,
    yardstick?.name ?? '',
    yardstick === undefined ? '' : yardstick.median.toFixed(2),
    yardstick === undefined ? '' : `${yardstick.min.toFixed(2)}-${yardstick.max.toFixed(2)}`,
    aim === undefined ? '' : describeAim(aim),
    isReached === undefined ? '' : isReached ? 'reached' : 'missed',
    perSecond === undefined ? '' : plain(perSecond),
    p99Ms === undefined ? '' : `${plain(p99Ms)} ms`,
    note ?? '',
  ]
}

function describeAim(aim: Aim): string {
  return 'atMost' in aim ? `≤ ${aim.atMost}` : `≥ ${aim.atLeast}`
}

/** Three digits that count. */
function plain(value: number): string {
  if (value >= 100) return value.toFixed(0)
  return value >= 10 ? value.toFixed(1) : value >= 1 ? value.toFixed(2) : value.toFixed(3)
}

function align(lines: readonly (readonly string[])[]): string {
  const widths = HEAD.map((_, column) =>
    Math.max(...lines.map((cells) => cells[column]?.length ?? 0)),
  )
  return lines
    .map((cells) =>
      cells
        .map((cell, column) => cell.padEnd(widths[column] ?? 0))
        .join('  ')
        .trimEnd(),
    )
    .map((line) => `${line}\n`)
    .join('')
}
