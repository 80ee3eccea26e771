import type { Command } from 'commander'
import { SvcError } from '../../../platform/errors.ts'
import { printable } from '../../../platform/printable.ts'
import type { CommandContext } from '../command-context.ts'

export function registerWebhookTest(noun: Command, context: CommandContext): void {
  noun
    .command('test')
    .description('make the running hub send one message of type webhook_test, now')
    .argument('<webhook>', 'its id, as svc webhook list shows it')
    .option('--json', 'print one JSON document')
    .addHelpText(
      'after',
      `
The hub sends the message once, before all waiting messages, and moves no position. The exit status is 1 when the receiver
does not accept it.

Examples (the id comes from the list):
  id=$(svc webhook list | awk '/alerts.example.org/ { print $6; exit }')
  svc webhook test "$id"
`,
    )
    .action(async (webhook: string, { json }: { json?: true }) => {
      const tested = await context.withAdmin(({ operations }) =>
        operations.testWebhook({ webhook }),
      )
      const { ok, erro, message_id, status, duration_ms } = tested
      if (json) await context.output.writeJson(tested)
      if (!ok) {
        // A receiver's certificate has its say in some of these.
        const reason = printable(erro ?? 'no reason')
        throw new SvcError('webhook_failed', `the receiver did not accept the test: ${reason}`)
      }
      if (json) return
      const how = status === null ? '' : ` with ${status}`
      await context.output.write(`${message_id} was accepted${how} in ${duration_ms} ms\n`)
    })
}
