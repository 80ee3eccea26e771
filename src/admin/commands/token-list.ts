import type { Command } from 'commander'
import type { AdminToken } from '../../protocol/admin/views.ts'
import type { CommandContext } from './command-context.ts'
import { registerList } from './register-list.ts'

export function registerTokenList(noun: Command, context: CommandContext): void {
  registerList(noun, context, {
    description: 'list the enrolment tokens, newest first; never the tokens themselves',
    plural: 'tokens',
    ask: (operations, page) => operations.listTokens(page),
    rowsOf: ({ tokens }) => tokens,
    columns: {
      ID: (token) => token.id,
      HOSTNAME: (token) => token.hostname,
      ROLE: (token) => token.role,
      STATE: (token) => stateOf(token, context.clock.now()),
      EXPIRES_AT: (token) => token.expires_at,
      CONSUMED_AT: (token) => token.consumed_at,
    },
  })
}

function stateOf(token: AdminToken, now: Date): string {
  if (token.consumed_at !== null) return 'consumed'
  return Date.parse(token.expires_at) > now.getTime() ? 'open' : 'expired'
}
