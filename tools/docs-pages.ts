// The pages of docs/reference, each written from a table in code.

import { CLI_VARIABLES } from '../src/admin/doors/hub-options.ts'
import { AGENT_VARIABLES, type AgentVariable } from '../src/agent/settings/agent-variables.ts'
import { AGENT_METRICS } from '../src/agent/reporting/agent-metrics.ts'
import { CHECKS } from '../src/doctor/checks.ts'
import { HUB_VARIABLES } from '../src/hub/hub-variables.ts'
import { HUB_METRICS } from '../src/hub/metrics/hub-metrics.ts'
import type { MetricTable } from '../src/platform/metric-set.ts'
import { CHANGES_ROUTE } from '../src/protocol/admin/changes-route.ts'
import { ADMIN_OPERATIONS } from '../src/protocol/admin/operations.ts'
import { ADMIN_ERRORS } from '../src/protocol/admin/errors.ts'
import { WIRE_ERRORS } from '../src/protocol/errors.ts'
import { LIMITS } from '../src/protocol/limits.ts'
import { describeApi } from '../src/protocol/openapi.ts'
import { HEADING_WORDS } from '../src/protocol/heading-words.ts'
import { ROUTES } from '../src/protocol/routes.ts'
import {
  BundleReplyBody,
  EnrollReplyBody,
  EnrollRequestBody,
  ErrorReplyBody,
  EventReplyBody,
  EventRequestBody,
  HealthReplyBody,
  IssueReplyBody,
  IssueRequestBody,
  ManifestEntryBody,
  ManifestReplyBody,
  RecipientReplyBody,
  RecipientRequestBody,
} from '../src/protocol/schemas.ts'
import {
  DeliveryKind,
  DeliveryStatus,
  EventType,
  HubEventType,
  RenewalTrigger,
} from '../src/protocol/words.ts'
import {
  COMMAND_WORDS,
  OPTION_WORDS,
  STATE_WORDS,
  VALUE_WORDS,
  type Words,
} from '../src/protocol/spoken-words.ts'
import { readVersion } from '../src/platform/version.ts'
import { readHelp } from './docs-help.ts'
import { describeFields } from './docs-schema.ts'

export interface Page {
  readonly path: string
  readonly text: string
}

const PROGRAMS = ['svc-server', 'svc', 'svc-agent', 'svc-ca']

export function renderPages(): Page[] {
  return [
    page('environment', renderEnvironment()),
    page('errors', renderErrors()),
    page('http', renderHttp()),
    page('events', renderEvents()),
    page('words', renderWords()),
    page('cli', renderCli()),
    page('metrics', renderMetrics()),
    page('doctor', renderDoctor()),
    { path: 'docs/openapi.json', text: `${JSON.stringify(describeApi(readVersion()), null, 2)}\n` },
  ]
}

export function page(name: string, body: string): Page {
  const note =
    '<!-- Written by `node tools/docs.ts --write` from the tables in code; do not edit. -->'
  return { path: `docs/reference/${name}.md`, text: `${note}\n\n${body.trimEnd()}\n` }
}

export function table(heads: readonly string[], rows: readonly (readonly string[])[]): string {
  const line = (cells: readonly string[]): string =>
    `| ${cells.map((cell) => cell.replaceAll('|', '\\|')).join(' | ')} |\n`
  return line(heads) + line(heads.map(() => '---')) + rows.map(line).join('')
}

const code = (text: string): string => (text === '' ? '' : `\`${text}\``)

/** A default that is a value stands as code, one that is an explanation as text. */
const defaultText = (text: string): string => (/\s/.test(text) ? text : code(text))

function needText({ required, kind }: (typeof HUB_VARIABLES)[number]): string {
  if (!required) return 'no'
  return kind === undefined ? 'yes' : `with ${code(`SVC_CA_KIND=${kind}`)}`
}

function renderEnvironment(): string {
  const hub = HUB_VARIABLES.map((variable) => [
    code(variable.name) + (variable.isSecret === true ? `, ${code(`${variable.name}_FILE`)}` : ''),
    needText(variable),
    defaultText(variable.default),
    variable.meaning,
  ])
  const agent = AGENT_VARIABLES.map((variable: AgentVariable) => [
    code(variable.name),
    variable.requiredIn.join(', '),
    defaultText(variable.default ?? ''),
    `${variable.meaning}.`,
  ])
  return `# Environment

Rules for these variables: ENV and AGV in [protocol.md](../protocol.md).

## The hub (\`svc-server\`), and \`svc\` where it opens the vault itself

${table(['variable', 'required', 'default', 'meaning'], hub)}
## \`svc\`: a hub somewhere else, and the language

${table(
  ['variable', 'meaning'],
  CLI_VARIABLES.map(({ name, meaning }) => [code(name), meaning]),
)}
## The agent (\`svc-agent\`)

${table(['variable', 'required in', 'default', 'meaning'], agent)}`
}

function renderDoctor(): string {
  const rows = CHECKS.map(({ id, title, finds, needs }) => [code(id), title, finds, needs])
  return `# The checks of \`svc doctor\`

Rules for them: DOC in [protocol.md](../protocol.md#doc-svc-doctor). They are printed in this order; the ids, which are also in \`--json\`, stay.

${table(['check', 'good', 'finds', 'needs'], rows)}`
}

function renderWords(): string {
  const uses: [where: string, words: Words][] = [
    ['command', COMMAND_WORDS],
    ['option', OPTION_WORDS],
    ['value, state', VALUE_WORDS],
    ['state', STATE_WORDS],
    ['column, label', HEADING_WORDS],
  ]
  const rows = uses.flatMap(([where, words]) =>
    Object.entries(words).map(([key, [en, pt]]) => [
      code(key),
      en,
      pt,
      where === 'option' && key === 'nome' ? 'option, key of a target' : where,
    ]),
  )
  return `# The words

What \`svc\` and \`svc-agent\` call things towards people: English by default, Portuguese with \`SVC_LANG=pt\` (WRD in
[protocol.md](../protocol.md#wrd-words)). Commands, options and values are taken in both languages, whatever \`SVC_LANG\` says. The first column is the
word of the wire, where it has one, and of JSON and CSV. A column is printed in capitals. As on the wire, no word has accents.

${table(['word', 'English', 'Portuguese', 'used as'], rows)}`
}

function renderErrors(): string {
  const rowsOf = (errors: Readonly<Record<string, { status: number; when: string }>>) =>
    Object.entries(errors).map(([name, { status, when }]) => [String(status), code(name), when])
  const rows = rowsOf(WIRE_ERRORS)
  const refusals = rowsOf(ADMIN_ERRORS)
  return `# Errors

The body of each is exactly \`{"error": "<code>"}\`; the reply's \`X-Request-Id\` leads to the reason in the hub's log.
Which route answers which code, and in what order: ERR, ENR, AUT, ISS and EVT in [protocol.md](../protocol.md).

${table(['status', 'code', 'when'], rows)}
## What admin operations refuse

The body is \`{"error": "<code>", "message": "<text>"}\`, with \`details\` and \`fields\` where there are any (API-14).

${table(['status', 'code', 'when'], refusals)}`
}

const BODIES = {
  health: { request: undefined, reply: HealthReplyBody },
  enroll: { request: EnrollRequestBody, reply: EnrollReplyBody },
  issue: { request: IssueRequestBody, reply: IssueReplyBody },
  manifest: { request: undefined, reply: ManifestReplyBody },
  events: { request: EventRequestBody, reply: EventReplyBody },
  recipient: { request: RecipientRequestBody, reply: RecipientReplyBody },
  bundle: { request: undefined, reply: BundleReplyBody },
} as const

function renderHttp(): string {
  const routes = Object.entries(BODIES).map(([name, { request, reply }]) => {
    const { port, method, path } = ROUTES[name as keyof typeof BODIES]
    const heads = ['field', 'type', 'required']
    return `## ${method} ${path}

Port: ${port}.

${request === undefined ? 'Request: no body.\n' : `Request:\n\n${table(heads, describeFields(request))}`}
Reply 200:

${table(heads, describeFields(reply))}`
  })
  const limits = Object.entries(LIMITS).map(([name, value]) => [code(name), String(value)])
  const admin = Object.entries(ADMIN_OPERATIONS).map(([name, { method, path, role }]) => [
    code(name),
    `${method} ${path}`,
    role,
  ])
  return `# HTTP

Bodies are JSON, apart from what \`GET ${ROUTES.blob.path}\` answers (BLB-5); unknown fields are ignored and nothing is coerced. Rules: [protocol.md](../protocol.md); codes: [errors.md](errors.md).

${routes.join('\n')}
An entry of \`entregas\`:

${table(['field', 'type', 'required'], describeFields(ManifestEntryBody))}
## GET ${ROUTES.stream.path}

Port: ${ROUTES.stream.port}. Request: no body; \`Last-Event-ID\`. Reply 200: server-sent events, see PSH in [protocol.md](../protocol.md).

Every error:

${table(['field', 'type', 'required'], describeFields(ErrorReplyBody))}
## Limits

${table(['limit', 'value'], limits)}
## Admin operations

On \`admin.sock\` in the vault's directory, and on the admin port for an admin token of the role or a higher one (API in
[protocol.md](../protocol.md)).

${table(['operation', 'route', 'role'], admin)}
What they refuse: [errors.md](errors.md).

## ${CHANGES_ROUTE.method} ${CHANGES_ROUTE.path}

Beside the operations, for the role viewer. Request: no body; \`Last-Event-ID\`, \`?after=\`. Reply 200: server-sent events, see DOR in [protocol.md](../protocol.md).
`
}

function renderEvents(): string {
  const list = (words: Readonly<Record<string, string>>): string =>
    table(
      ['on the wire', 'in code'],
      Object.entries(words).map(([name, value]) => [code(value), code(name)]),
    )
  return `# Events and other words

When each is sent, its payload and what it moves: EVT and DEL in [protocol.md](../protocol.md).
The hub accepts and records every \`tipo_evento\` of the right form, known or not.

## Sent by agents

${list(EventType)}
## Written by the hub about its own acts

${list(HubEventType)}
## Triggers of \`cert_renewed\`

${list(RenewalTrigger)}
## Kinds of cargas (\`tipo\`)

${list(DeliveryKind)}
## Statuses of entregas

${list(DeliveryStatus)}`
}

function renderMetrics(): string {
  const rowsOf = (metrics: MetricTable): string[][] =>
    Object.entries(metrics).map(([name, { type, unit, labels, meaning }]) => [
      code(name),
      type,
      unit,
      Object.entries(labels)
        .map(([label, values]) => `${code(label)} (${describeValues(values)})`)
        .join(', '),
      meaning,
    ])
  const heads = ['metric', 'type', 'unit', 'labels', 'meaning']
  return `# Metrics

OpenMetrics text at \`GET /metrics\`. Rules: MET in [protocol.md](../protocol.md); alerts and a dashboard:
[operations.md](../operations.md#watching).

## The hub, at \`SVC_METRICS_BIND\`

${table(heads, rowsOf(HUB_METRICS))}
## The agent, at \`SVC_AGENT_METRICS_BIND\`

${table(heads, rowsOf(AGENT_METRICS))}`
}

/** Every value, or where they come from. */
function describeValues(values: readonly string[] | string): string {
  return typeof values === 'string' ? values : values.map(code).join(' ')
}

function renderCli(): string {
  const sections = PROGRAMS.flatMap((program) => readHelp(program)).map(({ command, text }) => {
    const level = '#'.repeat(Math.min(4, 1 + command.split(' ').length))
    return `${level} ${command}\n\n\`\`\`text\n${text}\`\`\`\n`
  })
  return `# Command lines

What \`--help\` prints. Rules: CLI and AGT in [protocol.md](../protocol.md).

${sections.join('\n')}`
}
