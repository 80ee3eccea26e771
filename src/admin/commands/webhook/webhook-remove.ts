import type { Command } from 'commander'
import type { CommandContext } from '../command-context.ts'

export function registerWebhookRemove(webhook: Command, context: CommandContext): void {
  webhook
    .command('remove')
    .description('stop sending to a webhook, and forget its secret')
    .argument('<webhook>', 'its id, as svc webhook list shows it')
    .option('--json', 'print one JSON document')
    .addHelpText(
      'after',
      `
Examples (the id comes from the list):
  id=$(svc webhook list | awk '/alerts.example.org/ { print $6; exit }')
  svc webhook remove "$id"
`,
    )
    .action(async (id: string, options: { json?: true }) => {
      const removed = await context.withAdmin(({ operations }) =>
        operations.removeWebhook({ webhook: id }),
      )
      if (options.json) return context.output.writeJson(removed)
      await context.output.write(`webhook ${removed.id} to ${removed.url} removed\n`)
    })
}
