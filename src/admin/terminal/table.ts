import Table from 'cli-table3'
import { printable } from '../../platform/printable.ts'

const NO_BORDERS = {
  top: '',
  'top-mid': '',
  'top-left': '',
  'top-right': '',
  bottom: '',
  'bottom-mid': '',
  'bottom-left': '',
  'bottom-right': '',
  left: '',
  'left-mid': '',
  mid: '',
  'mid-mid': '',
  right: '',
  'right-mid': '',
  middle: '  ',
}
const PLAIN = { head: [], border: [], 'padding-left': 0, 'padding-right': 0 }

export type Cell = string | number | null

/** What each column shows of a row, under its header, in their order. */
export type Columns<Row> = Readonly<Record<string, (row: Row) => Cell>>

export function renderRows<Row>(columns: Columns<Row>, rows: readonly Row[]): string {
  const cellsOf = (row: Row): Cell[] => Object.values(columns).map((cellOf) => cellOf(row))
  return renderTable(Object.keys(columns), rows.map(cellsOf))
}

/** A header and aligned columns, for people and for awk; an absent value is `-`, so that every row has every column. */
export function renderTable(head: readonly string[], rows: readonly (readonly Cell[])[]): string {
  const table = new Table({ head: [...head], chars: NO_BORDERS, style: PLAIN })
  table.push(...rows.map((row) => row.map(renderCell)))
  return trimLines(table.toString())
}

/** One thing, a line a field. */
export function renderFields(fields: Readonly<Record<string, Cell>>): string {
  const table = new Table({ chars: NO_BORDERS, style: PLAIN })
  table.push(...Object.entries(fields).map(([name, value]) => [name, renderCell(value)]))
  return trimLines(table.toString())
}

function renderCell(value: Cell): string {
  return value === null || value === '' ? '-' : printable(String(value))
}

function trimLines(text: string): string {
  return text
    .split('\n')
    .map((line) => `${line.trimEnd()}\n`)
    .join('')
}
