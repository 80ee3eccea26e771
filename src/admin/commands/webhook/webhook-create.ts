import type { Command } from 'commander'
import { flagOf } from '../../../protocol/spoken-words.ts'
import { collect } from '../collect.ts'
import type { CommandContext } from '../command-context.ts'
import { requireKnownTypes } from '../evento/known-event-types.ts'
import { parseDecidingWhereOption, WHERE_FLAG } from '../hosts/where-option.ts'
import { requireFeature } from '../require-feature.ts'
import { renderFields } from '../../terminal/table.ts'
import { describeTypes } from './webhook-list.ts'

interface WebhookCreateOptions {
  readonly url: string
  readonly tipo: readonly string[]
  readonly where?: string
  readonly force?: true
  readonly json?: true
}

export function registerWebhookCreate(webhook: Command, context: CommandContext): void {
  webhook
    .command('create')
    .description('make the hub post every new entry of the audit log to a URL, signed')
    .requiredOption('--url <url>', 'https, or http on this machine')
    .option(`${flagOf('tipo')} <type>`, 'only entries of this type; repeatable', collect, [])
    .option(WHERE_FLAG, 'only entries about hosts that match, by their labels')
    .option('--force', 'take a --type that no event has yet')
    .option('--json', 'print one JSON document')
    .addHelpText(
      'after',
      `
svc prints the secret only this time; a receiver checks signatures with it (Standard Webhooks).

With --where the hub sends an entry when a host that it is about matches at that moment. Entries about no host, such as
policies and admin tokens, come only with their --type.

Examples:
  svc webhook create --url https://alerts.example.org/cartorio --type entrega_falhou --type hook_falhou
  svc webhook create --url https://alerts.example.org/prod --where 'env=prod'
  svc webhook create --url http://localhost:9000/events --json
`,
    )
    .action((options: WebhookCreateOptions) => createWebhook(context, options))
}

const LEAKING = 'it would send entries about all hosts'
const OTHERWISE =
  'svc event list shows types; --force takes a type that agents of yours will send later'

async function createWebhook(
  context: CommandContext,
  options: WebhookCreateOptions,
): Promise<void> {
  const where = options.where === undefined ? undefined : parseDecidingWhereOption(options.where)
  const request = { url: options.url, tipos: [...options.tipo], ...(where && { where }) }
  const created = await context.withAdmin(async ({ operations }) => {
    if (where !== undefined) await requireFeature(operations, 'selector_webhooks', LEAKING)
    if (!options.force) await requireKnownTypes(operations, options.tipo, OTHERWISE)
    return operations.createWebhook(request)
  })
  if (options.json) return context.output.writeJson(created)
  const { id, secret, url, tipos, where: hosts } = created
  await context.output.write(
    renderFields(context.output.language, {
      id,
      secret,
      url,
      tipos: describeTypes(tipos),
      ...(hosts && { where: hosts }),
    }),
  )
}
