// `svc NOUN list`, and whatever else prints rows: what all of these commands have in common; each says what it asks for and what its table shows.

import type { AdminOperations } from '../../protocol/admin/operations.ts'
import type { RegisterCommand } from './command-context.ts'
import { type Columns, renderRows } from '../terminal/table.ts'

/** A page of a list, as the hub answers it; a hub of before there were pages answers the whole list, without `next`. */
export interface ListPage {
  readonly next?: string | null
}

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
    page: { after?: string },
  ) => Promise<ListPage & Readonly<Record<Plural, readonly Row[]>>>
  readonly columns: Columns<Row>
}

export function listCommand<Plural extends string, Row>(list: List<Plural, Row>): RegisterCommand {
  const { name = 'list', about } = list
  return (noun, context) => {
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
          readWholeList(
            (page) => list.ask(operations, page),
            (page) => page[list.plural],
          ),
        )
        if (options.json) return context.output.writeJson({ [list.plural]: rows })
        await context.output.write(renderRows(list.columns, rows))
      })
  }
}

/** All rows of a list, page by page. */
export async function readWholeList<Page extends ListPage, Row>(
  ask: (request: { after?: string }) => Promise<Page>,
  rowsOf: (page: Page) => readonly Row[],
): Promise<Row[]> {
  const rows: Row[] = []
  let after: string | null | undefined
  do {
    const page = await ask(typeof after === 'string' ? { after } : {})
    // One by one: a whole list of such a hub is more than a call takes arguments.
    for (const row of rowsOf(page)) rows.push(row)
    after = page.next
  } while (typeof after === 'string')
  return rows
}
