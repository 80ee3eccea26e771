import type { Command } from 'commander'
import { UserError } from '../../../platform/errors.ts'
import { collect } from '../collect.ts'
import type { CommandContext } from '../command-context.ts'
import { collectLabel, showLabels } from '../hosts/label-option.ts'
import { parseDecidingWhereOption, WHERE_FLAG } from '../hosts/where-option.ts'
import { parseTtlSeconds } from '../parse-ttl.ts'
import { type Labelled, requireLabels } from './require-labels.ts'
import type { TokenHosts } from './token-create-many.ts'
import { renderFields } from '../../terminal/table.ts'

interface TokenCreateOptions {
  readonly hostname?: string
  readonly role: readonly string[]
  readonly where?: string
  readonly all?: true
  readonly label: Readonly<Record<string, string>>
  readonly expired?: true
  readonly file?: string
  readonly out?: string
  readonly ttl?: string
  readonly reenroll?: true
  readonly json?: true
  readonly dryRun?: true
}

const TTL = {
  maxSeconds: 7 * 86_400,
  maxText: '7d',
  hint: 'a host needs its token only once: create it just before the host enrols',
}

export function registerTokenCreate(token: Command, context: CommandContext): void {
  token
    .command('create')
    .description('create a one-time enrolment token for a host, or one for each of many hosts')
    .option('--hostname <name>', 'the host that may use it, lower case')
    .option(
      '--role <role>',
      'the role that it enrols with; without a host: each agent of this role, repeatable',
      collect,
      [],
    )
    .option(WHERE_FLAG, 'with --reenroll: each agent that it matches', parseDecidingWhereOption)
    .option('--all', 'with --reenroll: each agent')
    .option('--expired', 'with --role, --where or --all: only agents whose identity has expired')
    .option(
      '--label <key=value>',
      'a label that the host gets when it enrols; repeatable',
      collectLabel,
      {},
    )
    .option('--file <file>', 'a hostname a line, and its role behind it; - reads standard input')
    .option('--out <file>', 'many tokens go to this file, mode 0600')
    .option('--ttl <duration>', 'how long it works, at most 7d; 1h unless the policy says less')
    .option('--reenroll', 'enrol again a host that is enrolled or has an open token')
    .option('--json', 'print one JSON document')
    .addHelpText(
      'after',
      `
For many hosts svc prints a line for each, the hostname and its token, or adds the lines to the file of --out. A host whose
token is in that file already is left out: run the command again when some failed. # begins a comment in --file. svc prints
no tokens into a file that others can read.

--role, --where and --all with --reenroll are for hosts that the hub knows and that shall enrol again, as after a reinstallation, or with
--expired for those that were off for too long: svc-agent enroll --replace takes the token there. Each host gets its own role.
They leave revoked agents out: a revoked host comes back only by a token that --hostname or --file names it for.

svc prints the token only this time; the vault keeps only its SHA-256. With an admin token of role operator --reenroll is for
roles whose policy allows it: svc policy set <role> --reenroll.

Examples:
  svc token create --hostname web-1.example.org --role web
  svc token create --hostname db-1.example.org --role db --label env=prod --label rack=r7
  svc token create --hostname web-2.example.org --role web --ttl '1h 30m' --json
  svc token create --file hosts.txt --role web --out tokens.txt
  svc token create --role kiosk --reenroll --ttl 1d --out tokens.txt
  svc token create --all --expired --reenroll --out tokens.txt
  printf 'web-3.example.org web\\ndb-1.example.org db\\n' | svc token create --file -
`,
    )
    .action((options: TokenCreateOptions) => createToken(context, options))
}

async function createToken(context: CommandContext, options: TokenCreateOptions): Promise<void> {
  const { json, ttl, out, hostname, role: roles, reenroll, label: labels, dryRun } = options
  const seconds = ttl === undefined ? {} : { ttl_seconds: parseTtlSeconds(ttl, TTL) }
  const isLabelled = Object.keys(labels).length > 0
  const request = { ...(reenroll && { reenroll }), ...seconds, ...(isLabelled && { labels }) }
  if (hostname === undefined) {
    const { createTokens } = await import('./token-create-many.ts')
    return createTokens(context, await chooseHosts(context, options), {
      request,
      ...(out !== undefined && { out }),
      ...(json && { json }),
      ...(dryRun && { dryRun }),
    })
  }
  const [role] = roles
  const isForMany =
    options.file !== undefined || options.where !== undefined || options.all || options.expired
  if (role === undefined || roles.length > 1 || isForMany || out !== undefined) throw unclear()
  return createOne(context, { hostname, role, ...request }, json === true)
}

async function chooseHosts(
  context: CommandContext,
  { file, role: roles, reenroll, ...given }: TokenCreateOptions,
): Promise<TokenHosts> {
  const { where } = given
  const all = given.all === true
  const expired = given.expired === true
  const { findEnrolledHosts, readHostsOfFile } = await import('./token-hosts.ts')
  if (file !== undefined) {
    if (all || where !== undefined || expired || roles.length > 1) throw unclear()
    return readHostsOfFile(context, file, roles[0])
  }
  if ([all, where !== undefined, roles.length > 0].filter(Boolean).length !== 1) throw unclear()
  if (reenroll) return findEnrolledHosts(context, { roles, where, expired })
  throw new UserError(
    'usage',
    '--role, --where and --all without --hostname are for hosts that enrol again',
    {
      hint: 'add --reenroll, or name new hosts with --hostname or --file',
    },
  )
}

function unclear(): UserError {
  return new UserError(
    'usage',
    'name one host with --hostname and --role, or many with --file, --role, --where or --all',
    { hint: 'svc token create --help shows how' },
  )
}

async function createOne(
  context: CommandContext,
  request: Labelled & { readonly hostname: string; readonly role: string },
  isJson: boolean,
): Promise<void> {
  const created = await context.withAdmin(async ({ operations }) => {
    await requireLabels(operations, request)
    return operations.createToken({ reenroll: false, ...request })
  })
  if (isJson) return context.output.writeJson(created)
  const { token, hostname, expires_at, agent_command, note } = created
  const fields = renderFields(context.output.language, {
    token,
    hostname,
    role: created.role,
    ...(request.labels !== undefined && { labels: showLabels(created.labels) }),
    expires_at,
  })
  const advice = note === undefined ? '' : `\nNote: ${note}\n`
  await context.output.write(`${fields}\nOn the host:\n\n${agent_command}\n${advice}`)
}
