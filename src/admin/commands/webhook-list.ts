import { listCommand } from './list-command.ts'
import { shortTime } from './short-time.ts'

export const registerWebhookList = listCommand({
  description: 'list the webhooks, oldest first, with the state of each',
  plural: 'webhooks',
  ask: (operations, page) => operations.listWebhooks(page),
  columns: {
    URL: ({ url }) => url,
    TIPOS: ({ tipos }) => (tipos.length === 0 ? 'all' : tipos.join(',')),
    STATE: ({ state }) => state,
    BACKLOG: ({ backlog }) => backlog,
    DEAD: ({ dead }) => dead,
    ID: ({ id }) => id,
    // One that is active again has got over its last error; svc webhook show has it still.
    ERRO: ({ erro, state }) => (state === 'active' ? null : erro),
  },
  isLastProse: true,
  wide: {
    LAST_SUCCESS_AT: ({ last_success_at }) => shortTime(last_success_at),
    LAST_ERROR_AT: ({ last_error_at }) => shortTime(last_error_at),
  },
})
