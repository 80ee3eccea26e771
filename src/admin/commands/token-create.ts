import type { Command } from 'commander'
import type { CommandContext } from './command-context.ts'
import { parseTtlSeconds } from './parse-ttl.ts'
import { renderFields } from '../terminal/table.ts'

interface TokenCreateOptions {
  readonly hostname: string
  readonly role: string
  readonly ttl?: string
  readonly reenroll?: true
  readonly json?: true
}

const TTL = {
  maxSeconds: 7 * 86_400,
  maxText: '7d',
  hint: 'a host needs its token only once: create it just before the host enrols',
}

export function registerTokenCreate(token: Command, context: CommandContext): void {
  token
    .command('create')
    .description('create a one-time enrolment token for one host')
    .requiredOption('--hostname <name>', 'the host that may use it, lower case')
    .requiredOption('--role <role>', 'the role that it enrols with')
    .option('--ttl <duration>', 'how long it works, at most 7d; 1h unless the politica says less')
    .option('--reenroll', 'enrol again a host that is enrolled or has an open token')
    .option('--json', 'print one JSON document')
    .addHelpText(
      'after',
      `
svc prints the token only this time; the vault keeps only its SHA-256. With an admin token of role operator --reenroll is for
roles whose politica allows it: svc politica set <role> --reenroll.

Examples:
  svc token create --hostname web-1.example.org --role web
  svc token create --hostname web-2.example.org --role web --ttl '1h 30m' --json
`,
    )
    .action((options: TokenCreateOptions) => createToken(context, options))
}

async function createToken(context: CommandContext, options: TokenCreateOptions): Promise<void> {
  const { json, ttl, ...request } = options
  const seconds = ttl === undefined ? {} : { ttl_seconds: parseTtlSeconds(ttl, TTL) }
  const created = await context.withAdmin(({ operations }) =>
    operations.createToken({ reenroll: false, ...request, ...seconds }),
  )
  if (json) return context.output.writeJson(created)
  const { token, hostname, role, expires_at, agent_command } = created
  const fields = renderFields({ token, hostname, role, expires_at })
  await context.output.write(`${fields}\nOn the host:\n\n${agent_command}\n`)
}
