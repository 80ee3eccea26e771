import type { Command } from 'commander'
import type { CommandContext } from './command-context.ts'

export function registerAgenteRemove(agente: Command, context: CommandContext): void {
  agente
    .command('remove')
    .description('remove a revoked agent from the lists: its hostname is free again')
    .argument('<agente>', 'hostname or id')
    .option('--json', 'print one JSON document')
    .addHelpText(
      'after',
      `
The agent's history stays in the audit log. The hub cancels its entregas and ends open tokens for its hostname.
Its certificates that the CA has yet to revoke stay in svc agente revocations.

Examples:
  svc agente revoke web-1.example.org
  svc agente remove web-1.example.org
`,
    )
    .action(async (name: string, options: { json?: true }) => {
      const removed = await context.withAdmin(({ operations }) =>
        operations.removeAgent({ agente: name }),
      )
      if (options.json) return context.output.writeJson(removed)
      await context.output.write(`agente ${removed.hostname} (${removed.id}) removed\n`)
    })
}
