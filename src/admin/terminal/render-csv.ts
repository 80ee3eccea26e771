import { printable } from '../../platform/printable.ts'
import { type Cell, StateWord } from './table.ts'

/** A spreadsheet takes a cell that begins so for a formula, and runs it. */
const FORMULA = /^[=+\-@\t\r]/
const QUOTED = /[",\s]/

/** One line of RFC 4180, of texts that a spreadsheet may be given: docs/protocol.md CLI-53. */
export function renderCsvLine(cells: readonly Cell[]): string {
  return `${cells.map(renderCsvCell).join(',')}\n`
}

function renderCsvCell(cell: Cell): string {
  if (cell === null) return ''
  if (typeof cell === 'number') return String(cell)
  const given = cell instanceof StateWord ? cell.key : cell
  const text = printable(given)
  const inert = FORMULA.test(given) || FORMULA.test(text) ? `'${text}` : text
  return QUOTED.test(inert) ? `"${inert.replaceAll('"', '""')}"` : inert
}
