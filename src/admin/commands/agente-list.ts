import type { AdminAgent } from '../../protocol/admin/views.ts'
import { listCommand } from './list-command.ts'
import { shortTime } from './short-time.ts'

export const registerAgenteList = listCommand({
  description: 'list the agents by hostname',
  plural: 'agentes',
  ask: (operations, page) => operations.listAgents(page),
  columns: {
    HOSTNAME: (agent) => agent.hostname,
    ROLE: (agent) => agent.role,
    STATE: stateOf,
    LAST_SEEN_AT: (agent) => shortTime(agent.last_seen_at),
    CERT_NOT_AFTER: (agent) => shortTime(agent.cert_not_after),
  },
  wide: {
    LAST_POLL_AT: (agent) => shortTime(agent.last_poll_at),
    CA_WAITING: waitingAtCa,
    ID: (agent) => agent.id,
  },
  nameOf: ({ hostname }) => hostname,
})

type SentAgent = Pick<AdminAgent, 'revoked_at' | 'atrasado'> &
  Partial<Pick<AdminAgent, 'duplicado'>>

/** A hub up to 0.4.0 does not say who is `duplicado`. */
function stateOf({ revoked_at, atrasado, duplicado }: SentAgent): string {
  if (revoked_at !== null) return 'revoked'
  if (duplicado) return 'duplicado'
  return atrasado ? 'atrasado' : 'registered'
}

/** A hub of 0.3.0 or earlier does not send this field. */
function waitingAtCa({ ca_revocations_waiting: waiting }: Partial<AdminAgent>): number | null {
  return waiting ?? null
}
