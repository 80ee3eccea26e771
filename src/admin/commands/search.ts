// `svc search`: whatever somebody has a name, an id, a serial or a number of.

import type { Command } from 'commander'
import type { AdminReplies } from '../../protocol/admin/operations.ts'
import { type Columns, renderRows, stateWord } from '../terminal/table.ts'
import type { CommandContext } from './command-context.ts'

const COLUMNS: Columns<AdminReplies['search']['hits'][number]> = {
  kind: ({ kind }) => stateWord(kind),
  title: ({ title }) => title,
  matched: ({ matched }) => matched,
  id: ({ id }) => id,
}

export function registerSearch(program: Command, context: CommandContext): void {
  program
    .command('search')
    .description('find hosts, loads, certificates, entries, tokens, rules and policies')
    .argument('<text>', 'a part of a hostname, or the beginning of a name, an id or a serial')
    .option('--json', 'print one JSON document')
    .addHelpText(
      'after',
      `
At most twenty of them, and eight of a kind. Numbers are those of entries of the audit log; the id of a request finds the entry
that it made, and the agent that a running hub refused it to.

Examples:
  svc search web-1
  svc search 0d4f00c0ffee
  svc search 4711 --json
`,
    )
    .action(async (q: string, { json }: { json?: true }) => {
      const found = await context.withAdmin(({ operations }) => operations.search({ q }))
      if (json) return context.output.writeJson(found)
      const { language } = context.output
      await context.output.write(
        found.hits.length === 0 ? 'nothing found\n' : renderRows(language, COLUMNS, found.hits),
      )
    })
}
