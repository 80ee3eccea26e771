// `svc NOUN list`, and whatever else prints rows: what all of these commands have in common; each says what it asks for and what its table shows.

import type { Command } from 'commander'
import type { AdminOperations } from '../../protocol/admin/operations.ts'
import type { CommandContext } from './command-context.ts'
import { type ListPage, readWholeList } from './read-list.ts'
import { type Columns, renderRows } from '../terminal/table.ts'

export interface List<Page extends ListPage, Row> {
  /** Of the command; `list` by default. */
  readonly name?: string
  readonly description: string
  /** What its help says beside. */
  readonly about?: string
  /** Under which --json prints the rows. */
  readonly plural: string
  readonly ask: (operations: AdminOperations, page: { after?: string }) => Promise<Page>
  readonly rowsOf: (page: Page) => readonly Row[]
  readonly columns: Columns<Row>
}

export function registerList<Page extends ListPage, Row>(
  noun: Command,
  context: CommandContext,
  list: List<Page, Row>,
): void {
  const { name = 'list', about } = list
  const above = noun.parent?.parent === null ? 'svc' : `svc ${noun.parent?.name()}`
  const path = `${above} ${noun.name()}`
  const aliasPath = `${above} ${noun.alias() || noun.name()}`
  noun
    .command(name)
    .description(list.description)
    .option('--json', 'print one JSON document')
    .addHelpText(
      'after',
      `${about === undefined ? '' : `\n${about}\n`}
Examples:
  ${path} ${name}
  ${aliasPath} ${name} --json
`,
    )
    .action(async (options: { json?: true }) => {
      const rows = await context.withAdmin(({ operations }) =>
        readWholeList((page) => list.ask(operations, page), list.rowsOf),
      )
      if (options.json) return context.output.writeJson({ [list.plural]: rows })
      await context.output.write(renderRows(list.columns, rows))
    })
}
