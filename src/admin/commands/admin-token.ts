// `svc admin token`: the tokens that open the admin port.

import type { Command } from 'commander'
import { Option } from 'commander'
import { ADMIN_ROLES, type AdminRole } from '../../protocol/admin/roles.ts'
import type { AdminAccessToken } from '../../protocol/admin/admin-tokens.ts'
import type { CommandContext } from './command-context.ts'
import { parseDecidingSelector } from './hosts/where-option.ts'
import { requireFeature } from './require-feature.ts'
import { parseTtlSeconds } from './parse-ttl.ts'
import { listCommand } from './list-command.ts'
import { renderFields, stateWord } from '../terminal/table.ts'

interface AdminTokenCreateOptions {
  readonly name: string
  readonly role: AdminRole
  readonly ttl: string
  readonly only?: string
  readonly json?: true
}

const TTL = {
  maxSeconds: 365 * 86_400,
  maxText: '365d',
  hint: 'give every token an end, and make the next one in time',
}

const parseOnlyOption = (text: string): string => parseDecidingSelector(text, '--only')

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
    wide: { only: ({ only }: Partial<AdminAccessToken>) => only ?? null },
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
    .option('--only <selector>', 'it sees and touches only agents that match', parseOnlyOption)
    .option('--json', 'print one JSON document')
    .addHelpText(
      'after',
      `
viewer lists and shows; operator also works with tokens, loads, deliveries and pushes, and revokes agents; admin may do everything.

With --only a token of role viewer or operator lists and shows agents that match, and their deliveries; that of an operator also
syncs, rotates, revokes them and pushes files to them. For it no other agent is there. Everything else is refused, labels too:
svc agent label --help says what a selector is.

svc prints the token only this time; the vault keeps only its SHA-256.

Examples:
  svc admin token create --name grafana --role viewer
  svc admin token create --name deploy-pipeline --role operator --ttl 30d --json
  svc admin token create --name stage-team --role operator --only 'env=stage,role in (web,db)'
`,
    )
    .action(async (options: AdminTokenCreateOptions) => {
      const request = {
        name: options.name,
        role: options.role,
        ttl_seconds: parseTtlSeconds(options.ttl, TTL),
        ...(options.only !== undefined && { only: options.only }),
      }
      const created = await context.withAdmin(async ({ operations }) => {
        if (options.only !== undefined) {
          await requireFeature(operations, 'bounded_tokens', 'its token would be for every agent')
        }
        return operations.createAccessToken(request)
      })
      if (options.json) return context.output.writeJson(created)
      const { token: text, name, role, only, expires_at } = created
      const bound = options.only === undefined ? {} : { only }
      await context.output.write(
        `${renderFields(context.output.language, { token: text, name, role, ...bound, expires_at })}\nKeep it in a file that only its user can read, for svc --hub https://… --token-file <file>.\n`,
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
