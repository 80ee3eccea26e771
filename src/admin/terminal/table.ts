import { printable } from '../../platform/printable.ts'
import { displayWidth } from './display-width.ts'

export type Cell = string | number | null

/** What each column shows of a row, under its header, in their order. */
export type Columns<Row> = Readonly<Record<string, (row: Row) => Cell>>

export function renderRows<Row>(columns: Columns<Row>, rows: readonly Row[]): string {
  const cellsOf = (row: Row): Cell[] => Object.values(columns).map((cellOf) => cellOf(row))
  return renderTable(Object.keys(columns), rows.map(cellsOf))
}

/** A header and aligned columns, for people and for awk; an absent value is `-`, so that every row has every column. */
export function renderTable(head: readonly string[], rows: readonly (readonly Cell[])[]): string {
  return alignLines([head, ...rows])
}

/** One thing, a line a field. */
export function renderFields(fields: Readonly<Record<string, Cell>>): string {
  return alignLines(Object.entries(fields))
}

/** A line whose columns begin where those of other lines of these widths do; a cell that is wider moves what follows it. */
export function renderLine(widths: readonly number[], cells: readonly Cell[]): string {
  const padded = cells.map((cell, column) => {
    const text = renderCell(cell)
    return text + ' '.repeat(Math.max(0, (widths[column] ?? 0) - displayWidth(text)))
  })
  return `${padded.join('  ').trimEnd()}\n`
}

function alignLines(lines: readonly (readonly Cell[])[]): string {
  const widths: number[] = []
  for (const cells of lines) {
    for (const [column, cell] of cells.entries()) {
      widths[column] = Math.max(widths[column] ?? 0, displayWidth(renderCell(cell)))
    }
  }
  return lines.map((cells) => renderLine(widths, cells)).join('')
}

function renderCell(cell: Cell): string {
  return cell === null || cell === '' ? '-' : printable(String(cell))
}
