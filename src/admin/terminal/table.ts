import { printable } from '../../platform/printable.ts'

const ASCII = /^[\x20-\x7e]*$/
/** What a terminal gives two cells to: emoji, and the ranges that Unicode's East_Asian_Width calls wide or fullwidth. */
const WIDE =
  /^(?:\p{Emoji_Presentation}|\p{Emoji}\ufe0f|[\u1100-\u115f\u2329\u232a\u2e80-\u303e\u3041-\ua4cf\ua960-\ua97c\uac00-\ud7a3\uf900-\ufaff\ufe10-\ufe19\ufe30-\ufe6f\uff01-\uff60\uffe0-\uffe6\u{1b000}-\u{1b2ff}\u{1f200}-\u{1f265}\u{20000}-\u{3fffd}])/u
const INVISIBLE = /^[\p{Nonspacing_Mark}\p{Enclosing_Mark}\p{Default_Ignorable_Code_Point}]/u
const CHARACTERS = new Intl.Segmenter()

const GAP = '  '
const LAST_WIDTH_MIN = 12

export type Cell = string | number | null

/** What each column shows of a row, under its header, in their order. */
export type Columns<Row> = Readonly<Record<string, (row: Row) => Cell>>

export function renderRows<Row>(columns: Columns<Row>, rows: readonly Row[]): string {
  return tableOf(columns).render(rows)
}

/** A table that goes on: the first rows, with the header, say how wide its columns are. */
export function tableOf<Row>(
  columns: Columns<Row>,
  widthMax?: number,
): {
  readonly render: (rows: readonly Row[]) => string
} {
  const cells = Object.values(columns)
  const cellsOf = (row: Row): Cell[] => cells.map((cellOf) => cellOf(row))
  let widths: readonly number[] | undefined
  return {
    render: (rows) => {
      const lines = rows.map(cellsOf)
      if (widths === undefined) {
        lines.unshift(Object.keys(columns))
        widths = widthsOf(lines)
      }
      const lastMax = widthMax === undefined ? undefined : lastWidthOf(widths, widthMax)
      return renderLines(widths, lastMax === undefined ? lines : lines.map(cutLast(lastMax)))
    },
  }
}

/** What is left for the last column, which says least when it is cut; names and states are never cut. */
function lastWidthOf(widths: readonly number[], widthMax: number): number {
  const others = widths.slice(0, -1).reduce((sum, width) => sum + width + GAP.length, 0)
  return Math.max(LAST_WIDTH_MIN, widthMax - others)
}

function cutLast(width: number): (cells: readonly Cell[]) => readonly Cell[] {
  return (cells) => {
    const text = renderCell(cells.at(-1) ?? null)
    if (displayWidth(text) <= width) return cells
    let cut = ''
    for (const { segment } of CHARACTERS.segment(text)) {
      if (displayWidth(cut + segment) >= width) break
      cut += segment
    }
    return [...cells.slice(0, -1), `${cut}…`]
  }
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
  return `${padded.join(GAP).trimEnd()}\n`
}

function alignLines(lines: readonly (readonly Cell[])[]): string {
  return renderLines(widthsOf(lines), lines)
}

function widthsOf(lines: readonly (readonly Cell[])[]): number[] {
  const widths: number[] = []
  for (const cells of lines) {
    for (const [column, cell] of cells.entries()) {
      widths[column] = Math.max(widths[column] ?? 0, displayWidth(renderCell(cell)))
    }
  }
  return widths
}

function renderLines(widths: readonly number[], lines: readonly (readonly Cell[])[]): string {
  return lines.map((cells) => renderLine(widths, cells)).join('')
}

function renderCell(cell: Cell): string {
  return cell === null || cell === '' ? '-' : printable(String(cell))
}

/** How many cells of a terminal a printable text takes. */
function displayWidth(text: string): number {
  if (ASCII.test(text)) return text.length
  let width = 0
  for (const { segment } of CHARACTERS.segment(text)) {
    if (WIDE.test(segment)) width += 2
    else if (!INVISIBLE.test(segment)) width += 1
  }
  return width
}
