// `svc NOUN list`, and whatever else prints rows: what all of these commands have in common; each says what it asks for and what its table shows.

import { type Command, Option } from 'commander'
import { UserError } from '../../platform/errors.ts'
import type { AdminOperations } from '../../protocol/admin/operations.ts'
import { headingIn } from '../../protocol/spoken-words.ts'
import type { CommandContext, RegisterCommand } from './command-context.ts'
import { type ListPage, type ListRange, type PageRequest, readListPages } from './list-pages.ts'
import type { Output } from '../terminal/output.ts'
import {
  printRowNames,
  printRowsAsCsv,
  printRowsAsJson,
  printRowsAsTable,
  type RowPrinter,
} from '../terminal/print-rows.ts'
import type { Columns } from '../terminal/table.ts'

export interface List<Plural extends string, Row> {
  /** Of the command; `list` by default. */
  readonly name?: string
  readonly description: string
  /** What its help says beside. */
  readonly about?: string
  /** Under which a page has the rows, and --json prints them. */
  readonly plural: Plural
  readonly ask: (
    operations: AdminOperations,
    page: PageRequest,
    options: ListOptions,
  ) => Promise<ListPage & Readonly<Record<Plural, readonly Row[]>>>
  readonly columns: Columns<Row>
  /** Its last column is prose, which is cut where a line is full. */
  readonly isLastProse?: true
  /** More columns, of `--wide` and of CSV. */
  readonly wide?: Columns<Row>
  /** What other commands take for the row; what `cursor` says by default. */
  readonly nameOf?: (row: Row) => string
  /** The field that names a row; `id` by default. */
  readonly cursor?: string & keyof Row
  /** Adds what only this list can be asked for. */
  readonly addOptions?: (command: Command) => Command
}

export interface ListOptions {
  readonly limit?: string
  readonly after?: string
  readonly json?: true
  readonly output?: OutputForm
  readonly wide?: true
  readonly quiet?: true
}

const OUTPUT_FORMS = ['table', 'name', 'json', 'csv'] as const
type OutputForm = (typeof OUTPUT_FORMS)[number]
/** What a terminal shows without breaking lines. docs/protocol.md CLI-53. */
const TABLE_WIDTH = 100

export function listCommand<Plural extends string, Row>(list: List<Plural, Row>): RegisterCommand {
  const { name = 'list', about, cursor = 'id' } = list
  const field = headingIn('en', cursor)
  return (noun, context) => {
    const above = noun.parent?.parent === null ? 'svc' : `svc ${noun.parent?.name()}`
    const path = `${above} ${noun.name()}`
    const command = noun.command(name).description(list.description)
    ;(list.addOptions?.(command) ?? command)
      .option('--limit <count>', 'only the first rows')
      .option(`--after <${field}>`, `only the rows after the row with this ${field}`)
      .addOption(new Option('-o, --output <form>', 'how to print the rows').choices(OUTPUT_FORMS))
      .option('--wide', 'all columns, and no column cut to the width of a terminal')
      .option('-q, --quiet', `print only the ${field} of each row`)
      .option('--json', 'print one JSON document, as -o json does')
      .addHelpText(
        'after',
        `${about === undefined ? '' : `\n${about}\n`}
Examples:
  ${path} ${name}
  ${path} ${name} --wide
  ${path} ${name} -o csv
`,
      )
      .action((options: ListOptions) => printList(list, context, options))
  }
}

/** The hub has the turn for the next page while this one is written. docs/protocol.md CLI-50. */
async function printList<Plural extends string, Row>(
  list: List<Plural, Row>,
  { withAdmin, output, progress }: CommandContext,
  options: ListOptions,
): Promise<void> {
  const range = parseListRange(options)
  const printer = choosePrinter(list, output, options)
  await withAdmin(async ({ operations }) => {
    const ask = (request: PageRequest) => list.ask(operations, request, options)
    let count = 0
    for await (const rows of readListPages(ask, (page) => page[list.plural], range)) {
      await printer.print(rows)
      if (output.isClosed) return
      count += rows.length
      // On a terminal the rows that go by are progress enough.
      if (!output.isTerminal) progress.show(`${count} rows`)
    }
    progress.clear()
    await printer.end()
  })
}

function choosePrinter<Plural extends string, Row>(
  { plural, columns, wide, cursor, nameOf, isLastProse }: List<Plural, Row>,
  output: Output,
  options: ListOptions,
): RowPrinter<Row> {
  const idOf = (row: Row): string => String(row[cursor ?? ('id' as keyof Row)])
  const { output: form } = options
  if ([form, options.json, options.quiet].filter((given) => given !== undefined).length > 1) {
    throw new UserError('usage', '--output, --json and --quiet do not go together')
  }
  if (options.quiet) return printRowNames(output, idOf)
  if (options.json || form === 'json') return printRowsAsJson<Row>(output, plural)
  if (form === 'name') return printRowNames(output, nameOf ?? idOf)
  const all = { ...columns, ...wide }
  if (form === 'csv') return printRowsAsCsv(output, all)
  if (options.wide) return printRowsAsTable(output, all)
  return printRowsAsTable(output, columns, isLastProse && TABLE_WIDTH)
}

function parseListRange({ limit: text, after }: ListOptions): ListRange {
  const limit = text === undefined ? undefined : parseLimit(text)
  return { ...(limit === undefined ? {} : { limit }), ...(after === undefined ? {} : { after }) }
}

function parseLimit(text: string): number {
  const limit = /^\d{1,9}$/.test(text) ? Number(text) : 0
  if (limit >= 1) return limit
  throw new UserError('limit_invalid', `--limit: ${text} is not a number from 1 on`, {
    hint: 'without --limit svc lists all rows',
  })
}
