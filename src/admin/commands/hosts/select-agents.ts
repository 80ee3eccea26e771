// Which agents a command is for: one that is named, those of a role, those that match, all, or those of a file. docs/protocol.md CLI-61.

import type { Command } from 'commander'
import { UserError } from '../../../platform/errors.ts'
import type { AdminOperations } from '../../../protocol/admin/operations.ts'
import type { AdminAgent } from '../../../protocol/admin/views.ts'
import type { Progress } from '../../terminal/progress.ts'
import { collect } from '../collect.ts'
import type { CommandContext } from '../command-context.ts'
import { readHostFile } from './host-file.ts'
import { type PageRequest, readListPages } from '../list-pages.ts'
import { parseDecidingWhereOption, requireWhere, WHERE_FLAG } from './where-option.ts'

export interface AgentSelectionOptions {
  readonly role: readonly string[]
  readonly where?: string
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
  operations: Pick<AdminOperations, 'listAgents' | 'showFeatures'>,
) => Promise<readonly SelectedAgent[]>

export function addAgentSelection(command: Command): Command {
  return command
    .argument('[agent]', 'hostname or id')
    .option('--role <role>', 'each agent of this role; repeatable', collect, [])
    .option(WHERE_FLAG, 'each agent that it matches', parseDecidingWhereOption)
    .option('--all', 'each agent')
    .option('--file <file>', 'each agent of this file, a line each; - reads standard input')
}

export const SELECTION_HELP = `
With --role, --where, --all and --file svc asks the hub for one agent after the other, a few at a time, and prints the agents that
it asked for on standard output, and those that failed on standard error. One that fails stops no other; the exit status is 1
then. --role, --where and --all leave revoked agents out. It does no harm to run the command again. svc agent label --help says
what a selector is; here it may not look at what agents report of themselves (host.…).
`

/** Undefined when one agent is named, and nothing else. Reads the file now: later svc may be somebody who cannot. */
export async function selectAgents(
  { openSecret, progress }: CommandContext,
  name: string | undefined,
  { role: roles, where, all, file }: AgentSelectionOptions,
): Promise<FindAgents | undefined> {
  const ways = [name, roles.length > 0 || undefined, where, all, file]
  if (ways.filter((way) => way !== undefined).length !== 1) {
    throw new UserError(
      'usage',
      'name one agent, or use one of --role, --where, --all and --file',
      {
        hint: 'svc agent list shows ids and hostnames',
      },
    )
  }
  if (name !== undefined) return undefined
  if (file !== undefined) {
    const hosts = await readHostFile(openSecret, file, { hasNamesOnly: true })
    return () => Promise.resolve(hosts.map(({ name: agente }) => ({ name: agente, agente })))
  }
  return async (operations) => {
    const isWanted = ({ role }: AdminAgent): boolean => roles.length === 0 || roles.includes(role)
    const agents = await listAgentsWhere(operations, progress, { where, isWanted })
    if (agents.length > 0) return agents.map(({ hostname, id }) => ({ name: hostname, agente: id }))
    throw new UserError('no_recipient', `no agent${describeSelection({ roles, where })} is there`, {
      hint: 'svc agent list --wide shows the agents, their roles and labels',
    })
  }
}

/** For a message that no agent is there. */
export function describeSelection({
  roles,
  where,
}: {
  readonly roles: readonly string[]
  readonly where: string | undefined
}): string {
  if (where !== undefined) return ` that matches ${where}`
  return roles.length === 0 ? '' : ` of role ${roles.join(', ')}`
}

export interface WantedAgents {
  readonly where: string | undefined
  readonly isWanted: (agent: AdminAgent) => boolean
}

/** The agents that are not revoked. */
export async function listAgentsWhere(
  operations: Pick<AdminOperations, 'listAgents' | 'showFeatures'>,
  progress: Progress,
  { where, isWanted }: WantedAgents,
): Promise<readonly AdminAgent[]> {
  const found: AdminAgent[] = []
  const selected = await requireWhere(operations, where)
  const pages = readListPages(
    (page: PageRequest) => operations.listAgents({ ...page, ...selected }),
    ({ agentes }) => agentes,
  )
  for await (const page of pages) {
    found.push(...page.filter((agent) => agent.revoked_at === null && isWanted(agent)))
    progress.show(`${found.length} agents found`)
  }
  progress.clear()
  return found
}
