// `svc NOUN list`, and whatever else prints rows: what all of these commands have in common; each says what it asks for and what its table shows.

import { UserError } from '../../platform/errors.ts'
import type { AdminOperations } from '../../protocol/admin/operations.ts'
import type { CommandContext, RegisterCommand } from './command-context.ts'
import { type ListPage, type ListRange, type PageRequest, readListPages } from './list-pages.ts'
import { printRowsAsJson, printRowsAsTable } from '../terminal/print-rows.ts'
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
  ) => Promise<ListPage & Readonly<Record<Plural, readonly Row[]>>>
  readonly columns: Columns<Row>
  /** The field that names a row; `id` by default. */
  readonly cursor?: string
}

interface ListOptions {
  readonly limit?: string
  readonly after?: string
  readonly json?: true
}

export function listCommand<Plural extends string, Row>(list: List<Plural, Row>): RegisterCommand {
  const { name = 'list', about, cursor = 'id' } = list
  return (noun, context) => {
    const above = noun.parent?.parent === null ? 'svc' : `svc ${noun.parent?.name()}`
    const path = `${above} ${noun.name()}`
    const aliasPath = `${above} ${noun.alias() || noun.name()}`
    noun
      .command(name)
      .description(list.description)
      .option('--limit <count>', 'only the first rows')
      .option(`--after <${cursor}>`, `only the rows after the row with this ${cursor}`)
      .option('--json', 'print one JSON document')
      .addHelpText(
        'after',
        `${about === undefined ? '' : `\n${about}\n`}
Examples:
  ${path} ${name}
  ${aliasPath} ${name} --json
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
  const printer = options.json
    ? printRowsAsJson<Row>(output, list.plural)
    : printRowsAsTable(output, list.columns)
  await withAdmin(async ({ operations }) => {
    const ask = (request: PageRequest) => list.ask(operations, request)
    let count = 0
    for await (const rows of readListPages(ask, (page) => page[list.plural], range)) {
      await printer.print(rows)
      if (output.isClosed) return
      count += rows.length
      // On a terminal the rows that go by are progress enough.
      if (!output.isTerminal) progress.show(`${count} ${list.plural}`)
    }
    progress.clear()
    await printer.end()
  })
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
