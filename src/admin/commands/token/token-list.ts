import type { AdminToken } from '../../../protocol/admin/views.ts'
import type { RegisterCommand } from '../command-context.ts'
import { showLabels } from '../hosts/label-option.ts'
import { listCommand } from '../list-command.ts'
import { stateWord } from '../../terminal/table.ts'

export const registerTokenList: RegisterCommand = (noun, context) =>
  listCommand({
    description: 'list the enrolment tokens, newest first; never the tokens themselves',
    plural: 'tokens',
    ask: (operations, page) => operations.listTokens(page),
    columns: {
      id: (token) => token.id,
      hostname: (token) => token.hostname,
      role: (token) => token.role,
      state: (token) => stateWord(stateOf(token, context.clock.now())),
      expires_at: (token) => token.expires_at,
      consumed_at: (token) => token.consumed_at,
    },
    wide: { labels: ({ labels }: Partial<AdminToken>) => showLabels(labels) },
  })(noun, context)

function stateOf(token: AdminToken, now: Date): string {
  if (token.consumed_at !== null) return 'consumed'
  return Date.parse(token.expires_at) > now.getTime() ? 'open' : 'expired'
}
