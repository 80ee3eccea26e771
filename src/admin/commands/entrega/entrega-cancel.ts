import type { Command } from 'commander'
import type { CommandContext } from '../command-context.ts'
import { deliveryArgument } from '../named-arguments.ts'

export function registerEntregaCancel(entrega: Command, context: CommandContext): void {
  entrega
    .command('cancel')
    .description(
      'cancel one delivery: its files stay on the host, and the agent no longer renews them',
    )
    .addArgument(deliveryArgument())
    .option('--json', 'print one JSON document')
    .addHelpText(
      'after',
      `
A cancelled delivery never comes back; svc load create delivers again.

Examples:
  svc delivery cancel web-1.example.org/site
  svc delivery cancel web-1.example.org/site --dry-run
`,
    )
    .action(async (id: string, options: { json?: true }) => {
      const cancelled = await context.withAdmin(({ operations }) =>
        operations.cancelDelivery({ entrega: id }),
      )
      if (options.json) return context.output.writeJson(cancelled)
      await context.output.write(
        `delivery ${cancelled.id} of ${cancelled.nome} to ${cancelled.hostname} cancelled\n`,
      )
    })
}
