import type { AdminToken } from '../../protocol/admin/views.ts'
import type { RegisterCommand } from './command-context.ts'
import { listCommand } from './list-command.ts'

export const registerTokenList: RegisterCommand = (noun, context) =>
  listCommand({
    description: 'list the enrolment tokens, newest first; never the tokens themselves',
    plural: 'tokens',
    ask: (operations, page) => operations.listTokens(page),
    columns: {
      ID: (token) => token.id,
      HOSTNAME: (token) => token.hostname,
      ROLE: (token) => token.role,
      STATE: (token) => stateOf(token, context.clock.now()),
      EXPIRES_AT: (token) => token.expires_at,
      CONSUMED_AT: (token) => token.consumed_at,
    },
  })(noun, context)

function stateOf(token: AdminToken, now: Date): string {
  if (token.consumed_at !== null) return 'consumed'
  return Date.parse(token.expires_at) > now.getTime() ? 'open' : 'expired'
}
