// Which agents a command is for: one that is named, those of a role, all, or those of a file. docs/protocol.md CLI-61.

import type { Command } from 'commander'
import { UserError } from '../../../platform/errors.ts'
import type { AdminOperations } from '../../../protocol/admin/operations.ts'
import type { AdminAgent } from '../../../protocol/admin/views.ts'
import type { Progress } from '../../terminal/progress.ts'
import { collect } from '../collect.ts'
import type { CommandContext } from '../command-context.ts'
import { readHostFile } from './host-file.ts'
import { readListPages } from '../list-pages.ts'

export interface AgentSelectionOptions {
  readonly role: readonly string[]
  readonly all?: true
  readonly file?: string
}

export interface SelectedAgent {
  /** As the operator knows it. */
  readonly name: string
  /** As the hub is asked for it. */
  readonly agente: string
}

export type FindAgents = (
  operations: Pick<AdminOperations, 'listAgents'>,
) => Promise<readonly SelectedAgent[]>

export function addAgentSelection(command: Command): Command {
  return command
    .argument('[agent]', 'hostname or id')
    .option('--role <role>', 'each agent of this role; repeatable', collect, [])
    .option('--all', 'each agent')
    .option('--file <file>', 'each agent of this file, a line each; - reads standard input')
}

export const SELECTION_HELP = `
With --role, --all and --file svc asks the hub for one agent after the other, a few at a time, and prints the agents that it
asked for on standard output, and those that failed on standard error. One that fails stops no other; the exit status is 1 then.
--role and --all leave revoked agents out. It does no harm to run the command again.
`

/** Undefined when one agent is named, and nothing else. Reads the file now: later svc may be somebody who cannot. */
export async function selectAgents(
  { openSecret, progress }: CommandContext,
  name: string | undefined,
  { role: roles, all, file }: AgentSelectionOptions,
): Promise<FindAgents | undefined> {
  const ways = [name !== undefined, all === true || roles.length > 0, file !== undefined]
  if (ways.filter(Boolean).length !== 1 || (all && roles.length > 0)) {
    throw new UserError('usage', 'name one agent, or use one of --role, --all and --file', {
      hint: 'svc agent list shows ids and hostnames',
    })
  }
  if (name !== undefined) return undefined
  if (file !== undefined) {
    const hosts = await readHostFile(openSecret, file, { hasNamesOnly: true })
    return () => Promise.resolve(hosts.map(({ name: agente }) => ({ name: agente, agente })))
  }
  return async (operations) => {
    const isWanted = ({ role }: AdminAgent): boolean => all === true || roles.includes(role)
    const agents = await listAgentsWhere(operations, progress, isWanted)
    if (agents.length > 0) return agents.map(({ hostname, id }) => ({ name: hostname, agente: id }))
    throw new UserError(
      'no_recipient',
      `no agent ${all ? '' : `of role ${roles.join(', ')} `}is there`,
      {
        hint: 'svc agent list shows the agents and their roles',
      },
    )
  }
}

/** The agents that are not revoked. */
export async function listAgentsWhere(
  { listAgents }: Pick<AdminOperations, 'listAgents'>,
  progress: Progress,
  isWanted: (agent: AdminAgent) => boolean,
): Promise<readonly AdminAgent[]> {
  const found: AdminAgent[] = []
  const pages = readListPages(listAgents, ({ agentes }) => agentes)
  for await (const page of pages) {
    found.push(...page.filter((agent) => agent.revoked_at === null && isWanted(agent)))
    progress.show(`${found.length} agents found`)
  }
  progress.clear()
  return found
}
