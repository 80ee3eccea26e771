import Table from 'cli-table3'

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

// Agents choose some of what is shown here, and must not steer the operator's terminal: controls of C0 and C1, line and
// paragraph separators, and the marks that turn the direction of writing.
const UNPRINTABLE = /[\p{Cc}\u2028\u2029\u200e\u200f\u202a-\u202e\u2066-\u2069]/gu

/** The text with whatever a terminal would obey written as `\uXXXX`. */
export function printable(text: string): string {
  return text.replaceAll(
    UNPRINTABLE,
    (character) => `\\u${character.charCodeAt(0).toString(16).padStart(4, '0')}`,
  )
}

function trimLines(text: string): string {
  return text
    .split('\n')
    .map((line) => `${line.trimEnd()}\n`)
    .join('')
}
