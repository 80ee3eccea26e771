// `svc admin session`: who is signed in to the console.

import type { Command } from 'commander'
import type { CommandContext } from './command-context.ts'
import { listCommand } from './list-command.ts'

export function registerAdminSession(admin: Command, context: CommandContext): void {
  const session = admin.command('session').description('who is signed in to the console')
  listCommand({
    description:
      'list the open sessions, newest first; without role admin only those of the own token',
    plural: 'sessions',
    ask: (operations, page) => operations.listSessions(page),
    columns: {
      id: (each) => each.id,
      name: (each) => each.name,
      role: (each) => each.role,
      address: (each) => each.address,
      started_at: (each) => each.started_at,
      last_used_at: (each) => each.last_used_at,
      ends_at: (each) => each.ends_at,
    },
    wide: {
      idle_ends_at: (each) => each.idle_ends_at,
      only: (each) => each.only,
    },
  })(session, context)
  registerEnd(session, context)
}

function registerEnd(session: Command, context: CommandContext): void {
  session
    .command('end')
    .description('end a session: the hub refuses its next request')
    .argument('<session>', 'its id, or eight characters of it, as svc admin session list shows it')
    .option('--json', 'print one JSON document')
    .addHelpText(
      'after',
      `
All sessions of an admin token end with it: svc admin token revoke.

Examples:
  svc admin session list
  svc admin session end 3e8f5d7c9a0b1246
`,
    )
    .action(async (wanted: string, options: { json?: true }) => {
      const ended = await context.withAdmin(({ operations }) =>
        operations.endSession({ session: wanted }),
      )
      if (options.json) return context.output.writeJson(ended)
      await context.output.write(`session ${ended.id} of ${ended.name} ended\n`)
    })
}
