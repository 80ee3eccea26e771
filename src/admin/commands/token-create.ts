import type { Command } from 'commander'
import { UserError } from '../../platform/errors.ts'
import type { CommandContext } from './command-context.ts'
import { parseTtlSeconds } from './parse-ttl.ts'
import { renderFields } from '../terminal/table.ts'

interface TokenCreateOptions {
  readonly hostname?: string
  readonly role?: string
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
    .description('create a one-time enrolment token for a host, or one for each host of a file')
    .option('--hostname <name>', 'the host that may use it, lower case')
    .option('--role <role>', 'the role that it enrols with')
    .option('--file <file>', 'a hostname a line, and its role behind it; - reads standard input')
    .option('--out <file>', 'with --file: the tokens go to this file, mode 0600')
    .option('--ttl <duration>', 'how long it works, at most 7d; 1h unless the policy says less')
    .option('--reenroll', 'enrol again a host that is enrolled or has an open token')
    .option('--json', 'print one JSON document')
    .addHelpText(
      'after',
      `
With --file svc prints a line for each host, the hostname and its token, or adds the lines to the file of --out. A host whose
token is in that file already is left out: run the command again when some failed. # begins a comment. svc prints no tokens
into a file that others can read.

svc prints the token only this time; the vault keeps only its SHA-256. With an admin token of role operator --reenroll is for
roles whose policy allows it: svc policy set <role> --reenroll.

Examples:
  svc token create --hostname web-1.example.org --role web
  svc token create --hostname web-2.example.org --role web --ttl '1h 30m' --json
  svc token create --file hosts.txt --role web --out tokens.txt
  printf 'web-3.example.org web\\ndb-1.example.org db\\n' | svc token create --file -
`,
    )
    .action((options: TokenCreateOptions) => createToken(context, options))
}

async function createToken(context: CommandContext, options: TokenCreateOptions): Promise<void> {
  const { json, ttl, file, out, hostname: host, role, reenroll, dryRun } = options
  const seconds = ttl === undefined ? {} : { ttl_seconds: parseTtlSeconds(ttl, TTL) }
  const request = { ...(reenroll && { reenroll }), ...seconds }
  if (file !== undefined && host === undefined) {
    const { createTokens } = await import('./token-create-many.ts')
    return createTokens(context, {
      file,
      request,
      ...(role !== undefined && { role }),
      ...(out !== undefined && { out }),
      ...(json && { json }),
      ...(dryRun && { dryRun }),
    })
  }
  if (host === undefined || role === undefined || file !== undefined || out !== undefined) {
    throw new UserError('usage', 'name one host with --hostname and --role, or many with --file', {
      hint: 'svc token create --help shows how',
    })
  }
  const created = await context.withAdmin(({ operations }) =>
    operations.createToken({ reenroll: false, hostname: host, role, ...request }),
  )
  if (json) return context.output.writeJson(created)
  const { token, hostname, expires_at, agent_command, note } = created
  const fields = renderFields(context.output.language, {
    token,
    hostname,
    role: created.role,
    expires_at,
  })
  const advice = note === undefined ? '' : `\nNote: ${note}\n`
  await context.output.write(`${fields}\nOn the host:\n\n${agent_command}\n${advice}`)
}
