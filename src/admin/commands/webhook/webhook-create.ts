import type { Command } from 'commander'
import { flagOf } from '../../../protocol/spoken-words.ts'
import { collect } from '../collect.ts'
import { readNamedFile } from '../../doors/read-named-file.ts'
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
  readonly headerFile?: string
  readonly force?: true
  readonly json?: true
}

export function registerWebhookCreate(webhook: Command, context: CommandContext): void {
  webhook
    .command('create')
    .description('make the hub post every new entry of the audit log to a URL, signed')
    .requiredOption('--url <url>', 'https, syslog+tls or otlp+https; http on this machine')
    .option(`${flagOf('tipo')} <type>`, 'only entries of this type; repeatable', collect, [])
    .option(WHERE_FLAG, 'only entries about hosts that match, by their labels')
    .option('--header-file <path>', 'headers that an otlp receiver knows the hub by, a line each')
    .option('--force', 'take a --type that no event has yet')
    .option('--json', 'print one JSON document')
    .addHelpText(
      'after',
      `
svc prints the secret only this time; a receiver checks signatures with it (Standard Webhooks).
The scheme of the URL says the form: https is Standard Webhooks, syslog+tls is RFC 5424 over TLS (port 6514), otlp+https is log
records for a collector of OpenTelemetry (path /v1/logs). The last two have no secret.

With --where the hub sends an entry when a host that it is about matches at that moment. Entries about no host, such as
policies and admin tokens, come only with their --type.

Examples:
  svc webhook create --url https://alerts.example.org/cartorio --type entrega_falhou --type hook_falhou
  svc webhook create --url https://alerts.example.org/prod --where 'env=prod'
  svc webhook create --url http://localhost:9000/events --json
  svc webhook create --url syslog+tls://siem.example.org
  svc webhook create --url otlp+http://localhost:4318
`,
    )
    .action((options: WebhookCreateOptions) => createWebhook(context, options))
}

const HEADER_BYTES_MAX = 64 * 1024

function readHeaders(path: string | undefined): string[] | undefined {
  if (path === undefined) return undefined
  const { text } = readNamedFile('--header-file', path, HEADER_BYTES_MAX)
  const lines = text.split('\n').map((line) => line.trim())
  return lines.filter((line) => line !== '')
}

const LEAKING = 'it would send entries about all hosts'
const OTHERWISE =
  'svc event list shows types; --force takes a type that agents of yours will send later'

async function createWebhook(
  context: CommandContext,
  options: WebhookCreateOptions,
): Promise<void> {
  const where = options.where === undefined ? undefined : parseDecidingWhereOption(options.where)
  const headers = readHeaders(options.headerFile)
  const request = {
    url: options.url,
    tipos: [...options.tipo],
    ...(where && { where }),
    ...(headers && { headers }),
  }
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
      ...(secret !== null && { secret }),
      url,
      tipos: describeTypes(tipos),
      ...(hosts && { where: hosts }),
    }),
  )
}
