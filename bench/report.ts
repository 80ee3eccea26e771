import { renderTable } from '../src/admin/terminal/table.ts'
import type { RateResult, RateRow } from './rows.ts'
import type { BoundedResult } from './streams.ts'
import type { TimeResult } from './times.ts'

export type ReportRow = readonly string[]

const HEAD = ['figure', 'yardstick', 'hub', 'yardstick', 'ratio', '(min-max)', 'aim', '', 'load']

export function renderRate(row: RateRow, result: RateResult): ReportRow {
  return [
    `${row.name}: ${row.what}${result.note === undefined ? '' : `, ${result.note}`}${row.isPinned ? ' [one core]' : ''}`,
    row.yardstick,
    result.subject.toFixed(0),
    result.yardstick.toFixed(0),
    result.median.toFixed(2),
    rangeOf(result),
    row.aim.toFixed(2),
    result.median >= row.aim ? 'reached' : 'missed',
    `${Math.round(result.busyMax * 100)}%`,
  ]
}

export function renderTime(result: TimeResult): ReportRow {
  return [
    result.what,
    result.yardstickName,
    `${result.subject.toFixed(0)} ${result.unit}`,
    `${result.yardstick.toFixed(0)} ${result.unit}`,
    result.median.toFixed(1),
    rangeOf(result),
    '',
    '',
    '',
  ]
}

export function renderBounded({ what, value, unit, valueMax, note }: BoundedResult): ReportRow {
  const isReached = value <= valueMax ? 'reached' : 'missed'
  return [what, note, `${value.toFixed(0)} ${unit}`, '', '', '', `≤ ${valueMax}`, isReached, '']
}

export function renderReport(rows: readonly ReportRow[], machine: string): string {
  const notes = [
    machine,
    'ratio: median of the rounds, yardstick and hub in turn; rates are medians and differ between machines and days',
    '[one core]: server pinned to core 0, load to core 1, rates per second of CPU time of the server',
    'the other rates: per second of the clock; hub, step-ca and load share all cores',
    'load: CPU of the load generator at its busiest, in one core; near 100% with [one core] it would be the limit',
  ]
  return `${renderTable(HEAD, rows)}\n${notes.map((note) => `${note}\n`).join('')}`
}

function rangeOf({ min, max }: { readonly min: number; readonly max: number }): string {
  return `${min.toFixed(2)}-${max.toFixed(2)}`
}
