import { printable } from '../../platform/printable.ts'
import type { Output } from './output.ts'
import { renderCsvLine } from './render-csv.ts'
import { type Columns, tableOf } from './table.ts'

/** Prints a list that may be too long to hold, page by page. */
export interface RowPrinter<Row> {
  print(rows: readonly Row[]): Promise<void>
  end(): Promise<void>
}

/** Its columns are as wide as the first page wants them: nobody can measure rows that are yet to come. */
export function printRowsAsTable<Row>(
  output: Output,
  columns: Columns<Row>,
  widthMax?: number,
): RowPrinter<Row> {
  const table = tableOf(output.language, columns, widthMax)
  return {
    print: (rows) => output.write(table.render(rows)),
    end: () => Promise.resolve(),
  }
}

/** A line a row, of nothing but what names it. */
export function printRowNames<Row>(output: Output, nameOf: (row: Row) => string): RowPrinter<Row> {
  return {
    print: (rows) => output.write(rows.map((row) => `${printable(nameOf(row))}\n`).join('')),
    end: () => Promise.resolve(),
  }
}

/** For programs and spreadsheets: names and states are the wire's, in every language. docs/protocol.md CLI-85. */
export function printRowsAsCsv<Row>(output: Output, columns: Columns<Row>): RowPrinter<Row> {
  const cells = Object.values(columns)
  let head = renderCsvLine(Object.keys(columns))
  const print = async (rows: readonly Row[]): Promise<void> => {
    const lines = rows.map((row) => renderCsvLine(cells.map((cellOf) => cellOf(row))))
    await output.write(head + lines.join(''))
    head = ''
  }
  return { print, end: () => print([]) }
}

/** One JSON document, as `JSON.stringify` would indent it, written as it comes. */
export function printRowsAsJson<Row>(output: Output, plural: string): RowPrinter<Row> {
  let isBegun = false
  return {
    print: async (rows) => {
      if (rows.length === 0) return
      const opening = isBegun ? ',\n' : `{\n  ${JSON.stringify(plural)}: [\n`
      isBegun = true
      await output.write(opening + indented(rows))
    },
    end: () => output.write(isBegun ? '\n  ]\n}\n' : `{\n  ${JSON.stringify(plural)}: []\n}\n`),
  }
}

/** Without the brackets of the array; no text in JSON holds a line break. */
function indented(rows: readonly unknown[]): string {
  const lines = JSON.stringify(rows, null, 2).split('\n').slice(1, -1)
  return lines.map((line) => `  ${line}`).join('\n')
}
