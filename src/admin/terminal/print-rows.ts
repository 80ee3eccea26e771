import type { Output } from './output.ts'
import { type Columns, tableOf } from './table.ts'

/** Prints a list that may be too long to hold, page by page. */
export interface RowPrinter<Row> {
  print(rows: readonly Row[]): Promise<void>
  end(): Promise<void>
}

/** Its columns are as wide as the first page wants them: nobody can measure rows that are yet to come. */
export function printRowsAsTable<Row>(output: Output, columns: Columns<Row>): RowPrinter<Row> {
  const table = tableOf(columns)
  return {
    print: (rows) => output.write(table.render(rows)),
    end: () => Promise.resolve(),
  }
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
