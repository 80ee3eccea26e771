import { type Command, Option } from 'commander'
import { UserError } from '../../../platform/errors.ts'
import { flagOf } from '../../../protocol/spoken-words.ts'
import { collect } from '../collect.ts'
import { readNamedFile } from '../../doors/read-named-file.ts'
import type { CommandContext } from '../command-context.ts'
import { requireKnownTypes } from '../evento/known-event-types.ts'
import { parseDecidingWhereOption, WHERE_FLAG } from '../hosts/where-option.ts'
import { requireFeature } from '../require-feature.ts'
import { renderFields } from '../../terminal/table.ts'
import { describeTypes } from './webhook-list.ts'

/** `json` is Standard Webhooks; the others are for people. */
const FORMATS = ['json', 'slack', 'teams'] as const

interface WebhookCreateOptions {
  readonly url?: string
  readonly urlFile?: string
  readonly tipo: readonly string[]
  readonly where?: string
  readonly format: (typeof FORMATS)[number]
  readonly passwordFile?: string
  readonly headerFile?: string
  readonly force?: true
  readonly json?: true
}

export function registerWebhookCreate(webhook: Command, context: CommandContext): void {
  webhook
    .command('create')
    .description('make the hub post every new entry of the audit log to a URL, signed')
    .option(
      '--url <url>',
      'https, smtps, smtp+tls, syslog+tls or otlp+https; http and smtp on this machine',
    )
    .option('--url-file <path>', 'file that holds the URL, where that is a secret')
    .option(`${flagOf('tipo')} <type>`, 'only entries of this type; repeatable', collect, [])
    .option(WHERE_FLAG, 'only entries about hosts that match, by their labels')
    .addOption(
      new Option('--format <format>', 'the form of what is sent to an https URL')
        .choices(FORMATS)
        .default('json'),
    )
    .option('--password-file <path>', 'password of the user in the URL of a mail server')
    .option('--header-file <path>', 'headers that an otlp receiver knows the hub by, a line each')
    .option('--force', 'take a --type that no event has yet')
    .option('--json', 'print one JSON document')
    .addHelpText(
      'after',
      `
svc prints the secret only this time; a receiver checks signatures with it (Standard Webhooks).
The scheme of the URL says the form: https is Standard Webhooks, syslog+tls is RFC 5424 over TLS (port 6514), otlp+https is log
records for a collector of OpenTelemetry (path /v1/logs). The last two have no secret.

For people there are --format slack (an incoming webhook), --format teams (a workflow that takes webhook requests), and mail: smtps is
SMTP over TLS (port 465), smtp+tls is SMTP with STARTTLS (port 587). They get one message for many entries, at most one in 30 s, and
without --type only the entries that a person should look at. Who knows the URL of Slack or Teams can post there, and the arguments
of a program are no secret on its machine: --url-file reads it from a file.

With --where the hub sends an entry when a host that it is about matches at that moment. Entries about no host, such as
policies and admin tokens, come only with their --type.

Examples:
  svc webhook create --url https://alerts.example.org/cartorio --type entrega_falhou --type hook_falhou
  svc webhook create --url https://alerts.example.org/prod --where 'env=prod'
  svc webhook create --url http://localhost:9000/events --json
  svc webhook create --url syslog+tls://siem.example.org
  svc webhook create --format slack --url-file ./slack-url
  svc webhook create --url 'smtps://hub%40example.org@mail.example.org?from=hub@example.org&to=oncall@example.org' --password-file ./password
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

const LINE_BYTES_MAX = 4096

/** Without the end of its line. */
function readLine(option: string, path: string): string {
  return readNamedFile(option, path, LINE_BYTES_MAX).text.replace(/\r?\n$/, '')
}

function readUrl({ url, urlFile }: Pick<WebhookCreateOptions, 'url' | 'urlFile'>): string {
  if (url !== undefined && urlFile === undefined) return url
  if (url === undefined && urlFile !== undefined) return readLine('--url-file', urlFile)
  throw new UserError('usage', 'name either --url or --url-file', {
    hint: 'svc webhook create --help shows examples',
  })
}

/** To the hub, the scheme of the URL says the form. */
function withFormat(url: string, format: WebhookCreateOptions['format']): string {
  if (format === 'json' || url.startsWith(`${format}+`)) return url
  if (/^https?:/.test(url)) return `${format}+${url}`
  throw new UserError('url_invalid', `--format ${format} needs an https URL`)
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
  const { passwordFile } = options
  const password =
    passwordFile === undefined ? undefined : readLine('--password-file', passwordFile)
  const request = {
    url: withFormat(readUrl(options), options.format),
    tipos: [...options.tipo],
    ...(where && { where }),
    ...(headers && { headers }),
    ...(password !== undefined && { password }),
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
      tipos: describeTypes({ url, tipos }),
      ...(hosts && { where: hosts }),
    }),
  )
}
