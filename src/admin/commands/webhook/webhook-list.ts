import type { AdminWebhook } from '../../../protocol/admin/webhooks.ts'
import { isForPeople } from '../../../protocol/is-for-people.ts'
import { listCommand } from '../list-command.ts'
import { shortTime } from '../short-time.ts'
import { type Cell, stateWord } from '../../terminal/table.ts'

/** An empty list stands for all types, or for people for those that a person should look at. */
export function describeTypes({ url, tipos }: Pick<AdminWebhook, 'url' | 'tipos'>): Cell {
  if (tipos.length > 0) return tipos.join(',')
  return stateWord(isForPeople(url) ? 'urgent' : 'all')
}

export const registerWebhookList = listCommand({
  description: 'list the webhooks, oldest first, with the state of each',
  plural: 'webhooks',
  ask: (operations, page) => operations.listWebhooks(page),
  columns: {
    url: ({ url }) => url,
    tipos: describeTypes,
    state: ({ state }) => stateWord(state),
    backlog: ({ backlog }) => backlog,
    dead: ({ dead }) => dead,
    id: ({ id }) => id,
    // One that is active again has got over its last error; svc webhook show has it still.
    erro: ({ erro, state }) => (state === 'active' ? null : erro),
  },
  isLastProse: true,
  wide: {
    where: ({ where }) => where ?? null,
    last_success_at: ({ last_success_at }) => shortTime(last_success_at),
    last_error_at: ({ last_error_at }) => shortTime(last_error_at),
  },
})
