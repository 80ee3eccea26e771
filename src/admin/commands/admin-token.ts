// `svc admin token`: the tokens that open the admin port.

import type { Command } from 'commander'
import { Option } from 'commander'
import { ADMIN_ROLES, type AdminRole } from '../../protocol/admin/roles.ts'
import type { AdminAccessToken } from '../../protocol/admin/admin-tokens.ts'
import type { CommandContext } from './command-context.ts'
import { parseTtlSeconds } from './parse-ttl.ts'
import { listCommand } from './list-command.ts'
import { renderFields, stateWord } from '../terminal/table.ts'

interface AdminTokenCreateOptions {
  readonly name: string
  readonly role: AdminRole
  readonly ttl: string
  readonly json?: true
}

const TTL = {
  maxSeconds: 365 * 86_400,
  maxText: '365d',
  hint: 'give every token an end, and make the next one in time',
}

export function registerAdminToken(admin: Command, context: CommandContext): void {
  const token = admin.command('token').description('tokens for svc --hub and other programs')
  registerCreate(token, context)
  listCommand({
    description: 'list the admin tokens, newest first; never the tokens themselves',
    plural: 'admin_tokens',
    ask: (operations, page) => operations.listAccessTokens(page),
    columns: {
      id: (each) => each.id,
      name: (each) => each.name,
      role: (each) => each.role,
      state: (each) => stateWord(stateOf(each, context.clock.now())),
      expires_at: (each) => each.expires_at,
      last_used_at: (each) => each.last_used_at,
    },
  })(token, context)
  registerRevoke(token, context)
}

function registerCreate(token: Command, context: CommandContext): void {
  token
    .command('create')
    .description('create a token for the admin port')
    .requiredOption('--name <name>', 'the name that the audit log uses for its acts: token:<name>')
    .addOption(
      new Option('--role <role>', 'what it may do').choices(ADMIN_ROLES).makeOptionMandatory(),
    )
    .option('--ttl <duration>', 'how long it works, at most 365d', '90d')
    .option('--json', 'print one JSON document')
    .addHelpText(
      'after',
      `
viewer lists and shows; operator also works with tokens, loads, deliveries and pushes, and revokes agents; admin may do everything.
svc prints the token only this time; the vault keeps only its SHA-256.

Examples:
  svc admin token create --name grafana --role viewer
  svc admin token create --name deploy-pipeline --role operator --ttl 30d --json
`,
    )
    .action(async (options: AdminTokenCreateOptions) => {
      const request = {
        name: options.name,
        role: options.role,
        ttl_seconds: parseTtlSeconds(options.ttl, TTL),
      }
      const created = await context.withAdmin(({ operations }) =>
        operations.createAccessToken(request),
      )
      if (options.json) return context.output.writeJson(created)
      const { token: text, name, role, expires_at } = created
      await context.output.write(
        `${renderFields(context.output.language, { token: text, name, role, expires_at })}\nKeep it in a file that only its user can read, for svc --hub https://… --token-file <file>.\n`,
      )
    })
}

function registerRevoke(token: Command, context: CommandContext): void {
  token
    .command('revoke')
    .description('end an admin token: the hub refuses its next request')
    .argument('<token>', 'its name or id, as svc admin token list shows them')
    .option('--json', 'print one JSON document')
    .addHelpText(
      'after',
      `
Examples:
  svc admin token list
  svc admin token revoke deploy-pipeline
`,
    )
    .action(async (wanted: string, options: { json?: true }) => {
      const revoked = await context.withAdmin(({ operations }) =>
        operations.revokeAccessToken({ token: wanted }),
      )
      if (options.json) return context.output.writeJson(revoked)
      await context.output.write(`admin token ${revoked.name} (${revoked.id}) revoked\n`)
    })
}

function stateOf(token: AdminAccessToken, now: Date): string {
  if (token.revoked_at !== null) return 'revoked'
  return Date.parse(token.expires_at) > now.getTime() ? 'good' : 'expired'
}
