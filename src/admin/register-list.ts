// `svc NOUN list`: what all of these commands have in common; each says what it asks for and what its table shows.

import type { Command } from 'commander'
import type { AdminOperations } from '../protocol/admin.ts'
import type { CommandContext } from './command-context.ts'
import { type Columns, renderRows } from './table.ts'

export interface List<Reply, Row> {
  readonly description: string
  /** Its answer is what --json prints. */
  readonly ask: (operations: AdminOperations) => Promise<Reply>
  readonly rowsOf: (reply: Reply) => readonly Row[]
  readonly columns: Columns<Row>
}

export function registerList<Reply, Row>(
  noun: Command,
  context: CommandContext,
  list: List<Reply, Row>,
): void {
  const above = noun.parent?.parent === null ? 'svc' : `svc ${noun.parent?.name()}`
  const path = `${above} ${noun.name()}`
  const aliasPath = `${above} ${noun.alias() || noun.name()}`
  noun
    .command('list')
    .description(list.description)
    .option('--json', 'print one JSON document')
    .addHelpText(
      'after',
      `
Examples:
  ${path} list
  ${aliasPath} list --json
`,
    )
    .action(async (options: { json?: true }) => {
      const reply = await context.withAdmin(({ operations }) => list.ask(operations))
      if (options.json) return context.output.writeJson(reply)
      await context.output.write(renderRows(list.columns, list.rowsOf(reply)))
    })
}
