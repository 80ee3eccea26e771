import type { Command } from 'commander'
import type { AdminToken } from '../protocol/admin.ts'
import type { CommandContext } from './command-context.ts'
import { renderTable } from './table.ts'

export function registerTokenList(token: Command, context: CommandContext): void {
  token
    .command('list')
    .description('list the enrolment tokens, newest first; never the tokens themselves')
    .option('--json', 'print one JSON document')
    .addHelpText(
      'after',
      `
Examples:
  svc token list
  svc token list --json
`,
    )
    .action((options: { json?: true }) => listTokens(context, options.json === true))
}

async function listTokens(context: CommandContext, asJson: boolean): Promise<void> {
  const { output, clock } = context
  const list = await context.withAdmin(({ operations }) => operations.listTokens({}))
  if (asJson) return output.writeJson(list)
  const head = ['ID', 'HOSTNAME', 'ROLE', 'STATE', 'EXPIRES_AT', 'CONSUMED_AT']
  const rows = list.tokens.map((token) => [
    token.id,
    token.hostname,
    token.role,
    stateOf(token, clock.now()),
    token.expires_at,
    token.consumed_at,
  ])
  await output.write(renderTable(head, rows))
}

function stateOf(token: AdminToken, now: Date): string {
  if (token.consumed_at !== null) return 'consumed'
  return Date.parse(token.expires_at) > now.getTime() ? 'open' : 'expired'
}
