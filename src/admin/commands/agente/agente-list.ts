import { Option } from 'commander'
import { AGENT_SORTS, AGENT_STATES, type AgentState } from '../../../protocol/admin/agentes.ts'
import { flagOf } from '../../../protocol/spoken-words.ts'
import { requireFeature } from '../require-feature.ts'
import type { AdminAgent } from '../../../protocol/admin/views.ts'
import { showLabels } from '../hosts/label-option.ts'
import { parseWhereOption, requireWhere, WHERE_FLAG } from '../hosts/where-option.ts'
import { listCommand, type ListOptions } from '../list-command.ts'
import { shortTime } from '../short-time.ts'
import { stateWord } from '../../terminal/table.ts'

interface AgenteListOptions extends ListOptions {
  readonly where?: string
  readonly q?: string
  readonly role?: string
  readonly estado?: AgentState
  readonly sort?: (typeof AGENT_SORTS)[number]
}

const ABOUT = `\
--where lists only agents that match, such as 'role=web,env in (prod,stage),!canary': svc agent label --help says more. Here it
may also look at what agents report of themselves: host.os, host.arch, host.distribution, host.agent-version and more.

--state late lists agents with a certificate that should have been renewed already, expired those with one that has ended; connected
agents hold their stream; silent agents do not, and were not heard of for two hours; ok agents are neither revoked, late nor silent.
--sort end lists agents with certificates in use, by the one that ends first; enrolled lists the newest agent first.

  svc agent list --q web- --state late --sort end`

export const registerAgenteList = listCommand({
  description: 'list the agents by hostname',
  about: ABOUT,
  plural: 'agentes',
  ask: async (operations, page, options) => {
    const { where, q, role, estado, sort } = options as AgenteListOptions
    const filters = {
      ...(q !== undefined && { q }),
      ...(role !== undefined && { role }),
      ...(estado !== undefined && { estado }),
      ...(sort !== undefined && { sort }),
    }
    if (Object.keys(filters).length > 0) {
      await requireFeature(operations, 'agent_filters', 'it would list every agent, by hostname')
    }
    return operations.listAgents({
      ...page,
      ...filters,
      ...(await requireWhere(operations, where)),
    })
  },
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
    labels: ({ labels }: Partial<AdminAgent>) => showLabels(labels),
  },
  nameOf: ({ hostname }) => hostname,
  addOptions: (command) =>
    command
      .option('--q <text>', 'only agents with this in their hostname')
      .option('--role <role>', 'only agents of this role')
      .addOption(
        new Option(`${flagOf('estado')} <state>`, 'only agents in this state').choices(
          AGENT_STATES,
        ),
      )
      .option(WHERE_FLAG, 'only agents that it matches', parseWhereOption)
      .addOption(new Option('--sort <order>', 'the order of the rows').choices(AGENT_SORTS)),
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
