import type { Command } from 'commander'
import type { CommandContext } from '../command-context.ts'

export function registerAgenteRemove(agente: Command, context: CommandContext): void {
  agente
    .command('remove')
    .description('remove a revoked agent from the lists: its hostname is free again')
    .argument('<agent>', 'hostname or id')
    .option('--json', 'print one JSON document')
    .addHelpText(
      'after',
      `
The agent's history stays in the audit log. The hub cancels its deliveries and ends open tokens for its hostname.
Its certificates that the CA has yet to revoke stay in svc agent revocations.

Examples:
  svc agent revoke web-1.example.org
  svc agent remove web-1.example.org
`,
    )
    .action(async (name: string, options: { json?: true }) => {
      const removed = await context.withAdmin(({ operations }) =>
        operations.removeAgent({ agente: name }),
      )
      if (options.json) return context.output.writeJson(removed)
      await context.output.write(`agent ${removed.hostname} (${removed.id}) removed\n`)
    })
}
