import type { Command } from 'commander'
import type { CommandContext } from './command-context.ts'
import { deliveryArgument } from './named-arguments.ts'

export function registerEntregaCancel(entrega: Command, context: CommandContext): void {
  entrega
    .command('cancel')
    .description(
      'cancel one entrega: its files stay on the host, and the agent no longer renews them',
    )
    .addArgument(deliveryArgument())
    .option('--json', 'print one JSON document')
    .addHelpText(
      'after',
      `
A cancelled entrega never comes back; svc carga create delivers again.

Examples:
  svc entrega cancel web-1.example.org/site
  svc delivery cancel web-1.example.org/site --dry-run
`,
    )
    .action(async (id: string, options: { json?: true }) => {
      const cancelled = await context.withAdmin(({ operations }) =>
        operations.cancelDelivery({ entrega: id }),
      )
      if (options.json) return context.output.writeJson(cancelled)
      await context.output.write(
        `entrega ${cancelled.id} of ${cancelled.nome} to ${cancelled.hostname} cancelled\n`,
      )
    })
}
