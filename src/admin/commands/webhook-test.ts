import type { Command } from 'commander'
import { SvcError } from '../../platform/errors.ts'
import { printable } from '../../platform/printable.ts'
import type { CommandContext } from './command-context.ts'

export function registerWebhookTest(webhook: Command, context: CommandContext): void {
  webhook
    .command('test')
    .description('make the running hub send one message of type webhook_test, now')
    .argument('<webhook>', 'its id, as svc webhook list shows it')
    .option('--json', 'print one JSON document')
    .addHelpText(
      'after',
      `
It goes past what waits, is sent once, and moves nothing. The exit status is 1 when it is not accepted.

Examples (the id comes from the list):
  id=$(svc webhook list | awk '/alerts.example.org/ { print $NF; exit }')
  svc webhook test "$id"
`,
    )
    .action((id: string, options: { json?: true }) =>
      testWebhook(context, id, options.json === true),
    )
}

async function testWebhook(context: CommandContext, id: string, asJson: boolean): Promise<void> {
  const tested = await context.withAdmin(({ operations }) =>
    operations.testWebhook({ webhook: id }),
  )
  if (asJson) await context.output.writeJson(tested)
  if (!tested.ok) {
    // A receiver's certificate has its say in some of these.
    const reason = printable(tested.erro ?? 'no reason')
    throw new SvcError('webhook_failed', `the receiver did not accept the test: ${reason}`)
  }
  if (asJson) return
  await context.output.write(
    `${tested.message_id} was accepted with ${tested.status} in ${tested.duration_ms} ms\n`,
  )
}
