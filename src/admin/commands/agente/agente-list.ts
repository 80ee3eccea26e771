import type { AdminAgent } from '../../../protocol/admin/views.ts'
import { listCommand } from '../list-command.ts'
import { shortTime } from '../short-time.ts'
import { stateWord } from '../../terminal/table.ts'

export const registerAgenteList = listCommand({
  description: 'list the agents by hostname',
  plural: 'agentes',
  ask: (operations, page) => operations.listAgents(page),
  columns: {
    hostname: (agent) => agent.hostname,
    role: (agent) => agent.role,
    state: (agent) => stateWord(stateOf(agent)),
    last_seen_at: (agent) => shortTime(agent.last_seen_at),
    cert_not_after: (agent) => shortTime(agent.cert_not_after),
  },
  wide: {
    last_poll_at: (agent) => shortTime(agent.last_poll_at),
    ca_revocations_waiting: waitingAtCa,
    id: (agent) => agent.id,
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
