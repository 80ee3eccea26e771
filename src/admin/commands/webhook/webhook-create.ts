import type { Command } from 'commander'
import { flagOf } from '../../../protocol/spoken-words.ts'
import { collect } from '../collect.ts'
import type { CommandContext } from '../command-context.ts'
import { requireKnownTypes } from '../evento/known-event-types.ts'
import { renderFields } from '../../terminal/table.ts'
import { describeTypes } from './webhook-list.ts'

interface WebhookCreateOptions {
  readonly url: string
  readonly tipo: readonly string[]
  readonly force?: true
  readonly json?: true
}

export function registerWebhookCreate(webhook: Command, context: CommandContext): void {
  webhook
    .command('create')
    .description('make the hub post every new entry of the audit log to a URL, signed')
    .requiredOption('--url <url>', 'https, or http on this machine')
    .option(`${flagOf('tipo')} <type>`, 'only entries of this type; repeatable', collect, [])
    .option('--force', 'take a --type that no event has yet')
    .option('--json', 'print one JSON document')
    .addHelpText(
      'after',
      `
svc prints the secret only this time; a receiver checks signatures with it (Standard Webhooks).

Examples:
  svc webhook create --url https://alerts.example.org/cartorio --type entrega_falhou --type hook_falhou
  svc webhook create --url http://localhost:9000/events --json
`,
    )
    .action((options: WebhookCreateOptions) => createWebhook(context, options))
}

const OTHERWISE =
  'svc event list shows types; --force takes a type that agents of yours will send later'

async function createWebhook(
  context: CommandContext,
  options: WebhookCreateOptions,
): Promise<void> {
  const request = { url: options.url, tipos: [...options.tipo] }
  const created = await context.withAdmin(async ({ operations }) => {
    if (!options.force) await requireKnownTypes(operations, options.tipo, OTHERWISE)
    return operations.createWebhook(request)
  })
  if (options.json) return context.output.writeJson(created)
  const { id, secret, url, tipos } = created
  await context.output.write(
    renderFields(context.output.language, { id, secret, url, tipos: describeTypes(tipos) }),
  )
}
