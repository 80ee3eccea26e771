import type { Command } from 'commander'
import type { AdminHubRow } from '../../../protocol/admin/hubs.ts'
import { type Columns, renderRows, stateWord } from '../../terminal/table.ts'
import type { CommandContext } from '../command-context.ts'
import { shortTime } from '../short-time.ts'

const COLUMNS: Columns<AdminHubRow> = {
  host: ({ host, is_this: isThis }) => `${host ?? '-'}${isThis ? ' *' : ''}`,
  state: ({ state }) => stateWord(state),
  version: ({ version }) => version,
  last_beat_at: ({ last_beat_at }) => shortTime(last_beat_at),
  behind: ({ behind }) => behind,
  clock_ahead: ({ clock_ahead_ms: ms }) => `${ms >= 0 ? '+' : ''}${(ms / 1000).toFixed(1)}s`,
  leases: ({ leases }) => leases.join(',') || null,
  id: ({ id }) => id,
}

export function registerHubsList(hubs: Command, context: CommandContext): void {
  hubs
    .command('list')
    .description('list the hubs that share the vault, and how each of them is')
    .option('--json', 'print one JSON document')
    .addHelpText(
      'after',
      `
A running hub answers; * marks it. "silent" is a hub of which the database has heard nothing for five seconds.
"behind" counts the records of others that a hub has yet to run; "clock_ahead" is how far its clock is ahead of the database's;
"leases" is what one hub does for all of them.

Examples:
  svc hubs list
  svc hubs list --json
`,
    )
    .action(async ({ json }: { json?: true }) => {
      const listed = await context.withAdmin(({ operations }) => operations.listHubs({}))
      if (json) return context.output.writeJson(listed)
      await context.output.write(renderRows(context.output.language, COLUMNS, listed.hubs))
    })
}
