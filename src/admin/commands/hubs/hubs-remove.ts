import type { Command } from 'commander'
import type { CommandContext } from '../command-context.ts'

export function registerHubsRemove(hubs: Command, context: CommandContext): void {
  hubs
    .command('remove')
    .description('take a hub from those that share the vault')
    .argument('<hub>', 'its id, or the name of its machine')
    .option('--force', 'also one that runs')
    .option('--json', 'print one JSON document')
    .addHelpText(
      'after',
      `
For a machine that does not come back, or that hangs: from then on the database refuses what that hub does, and a hub that
runs ends. Its vault stays where it is; a hub that starts with it is one of them again.

Examples:
  svc hubs remove hub-2.example.org
  svc hubs remove hub-2.example.org --force
`,
    )
    .action(async (hub: string, options: { json?: true; force?: true }) => {
      const removed = await context.withAdmin(({ operations }) =>
        operations.removeHub({ hub, ...(options.force && { force: true }) }),
      )
      if (options.json) return context.output.writeJson(removed)
      await context.output.write(`hub ${removed.id} at ${removed.host ?? '-'} removed\n`)
    })
}
