import type { Command } from 'commander'
import { UserError } from '../../../platform/errors.ts'
import type { CommandContext } from '../command-context.ts'
import { parseTimeOption } from '../evento/evento-list-options.ts'

interface WebhookReplayOptions {
  readonly seq?: string
  readonly since?: string
  readonly dead?: true
  readonly json?: true
}

export function registerWebhookReplay(webhook: Command, context: CommandContext): void {
  webhook
    .command('replay')
    .description(
      'send again from an entry or a time on, or the dead messages; without an option, continue at once',
    )
    .argument('<webhook>', 'its id, as svc webhook list shows it')
    .option('--seq <number>', 'from this entry of the audit log on')
    .option('--since <time>', 'from a time on, or from a duration ago')
    .option('--dead', 'the dead messages, each once')
    .option('--json', 'print one JSON document')
    .addHelpText(
      'after',
      `
Messages keep their webhook-id, so a receiver recognises a message that it has. The command enables a disabled webhook again.
Without an option the webhook continues from its position, and tries a waiting message at once.

Examples (the id comes from the list):
  id=$(svc webhook list | awk '/alerts.example.org/ { print $6; exit }')
  svc webhook replay "$id" --since 24h
  svc webhook replay "$id" --seq 4711
  svc webhook replay "$id" --dead
  svc webhook replay "$id"
`,
    )
    .action((id: string, options: WebhookReplayOptions) => replayWebhook(context, id, options))
}

async function replayWebhook(
  context: CommandContext,
  id: string,
  options: WebhookReplayOptions,
): Promise<void> {
  const { seq, since, dead } = options
  if ([seq, since, dead].filter((given) => given !== undefined).length > 1) {
    throw new UserError('usage', '--seq, --since and --dead do not go together')
  }
  const request = {
    webhook: id,
    ...(seq === undefined ? {} : { seq: parseSeq(seq) }),
    ...(since === undefined
      ? {}
      : { since: parseTimeOption('--since', since, context.clock.now()) }),
    ...(dead === undefined ? {} : { dead }),
  }
  const replayed = await context.withAdmin(({ operations }) => operations.replayWebhook(request))
  if (options.json) return context.output.writeJson(replayed)
  await context.output.write(
    dead === true
      ? `webhook ${replayed.id} tries its dead messages once more: ${replayed.dead}\n`
      : `webhook ${replayed.id} continues after entry ${replayed.seq}: ${replayed.backlog} to send\n`,
  )
}

function parseSeq(text: string): number {
  if (/^[1-9]\d{0,14}$/.test(text)) return Number(text)
  throw new UserError('seq_invalid', `--seq: ${text} is not the number of an entry`, {
    hint: 'svc event list shows them',
  })
}
