import type { Command } from 'commander'
import { parseDurationMs } from '../platform/durations.ts'
import { UserError } from '../platform/errors.ts'
import type { CommandContext } from './command-context.ts'
import { renderFields } from './table.ts'

interface TokenCreateOptions {
  readonly hostname: string
  readonly role: string
  readonly ttl?: string
  readonly reenroll?: true
  readonly json?: true
}

const TTL_SECONDS_MAX = 7 * 86_400

export function registerTokenCreate(token: Command, context: CommandContext): void {
  token
    .command('create')
    .description('create a one-time enrolment token for one host')
    .requiredOption('--hostname <name>', 'the host that may use it, lower case')
    .requiredOption('--role <role>', 'the role that it enrols with')
    .option('--ttl <duration>', 'how long it is good, at most 7d; 1h unless the politica says less')
    .option('--reenroll', 'the host is enrolled already, or has an open token: enrol it again')
    .option('--json', 'print one JSON document')
    .addHelpText(
      'after',
      `
The token is printed this once; the vault keeps only its SHA-256.

Examples:
  svc token create --hostname web-1.example.org --role web
  svc token create --hostname web-2.example.org --role web --ttl '1h 30m' --json
`,
    )
    .action((options: TokenCreateOptions) => createToken(context, options))
}

async function createToken(context: CommandContext, options: TokenCreateOptions): Promise<void> {
  const request = {
    hostname: options.hostname,
    role: options.role,
    ...(options.ttl !== undefined && { ttl_seconds: parseTtlSeconds(options.ttl) }),
    reenroll: options.reenroll === true,
  }
  const created = await context.withAdmin(({ operations }) => operations.createToken(request))
  if (options.json) return context.output.writeJson(created)
  const fields = renderFields({
    token: created.token,
    hostname: created.hostname,
    role: created.role,
    expires_at: created.expires_at,
  })
  await context.output.write(`${fields}\nOn the host:\n\n${created.agent_command}\n`)
}

function parseTtlSeconds(text: string): number {
  const durationMs = parseDurationMs(text)
  if (durationMs === undefined) {
    throw new UserError('ttl_invalid', `--ttl: ${text} is not a duration`, {
      hint: 'write it as 30m, 1h 30m or 2d',
    })
  }
  const seconds = durationMs / 1000
  if (!Number.isInteger(seconds) || seconds < 1 || seconds > TTL_SECONDS_MAX) {
    throw new UserError('ttl_invalid', `--ttl: ${text} is not between 1s and 7d in whole seconds`, {
      hint: 'a token is needed only once, so create it when the host is about to enrol',
    })
  }
  return seconds
}
