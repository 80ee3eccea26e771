import { UserError } from '../../platform/errors.ts'
import type { Agent } from '../domain/agent.ts'
import type { StoreReader } from '../store/store.ts'
import { findAgent } from './find-agent.ts'

/** Those that are named and those of the roles, each once; throws a UserError when that is nobody. */
export async function findCargoAgents(
  reader: StoreReader,
  wanted: { readonly agentes: readonly string[]; readonly roles: readonly string[] },
): Promise<Agent[]> {
  const agents = new Map<string, Agent>()
  for (const name of wanted.agentes) {
    const agent = await findUnrevokedAgent(reader, name)
    agents.set(agent.id, agent)
  }
  if (wanted.roles.length > 0) {
    for (const agent of await reader.listAgents()) {
      const hasRole = wanted.roles.includes(agent.role)
      if (hasRole && agent.revokedAt === null) agents.set(agent.id, agent)
    }
  }
  if (agents.size === 0) {
    throw new UserError('no_recipient', 'no agente would get this carga', {
      hint: 'name agents by --agente or by --role',
    })
  }
  return [...agents.values()]
}

/** By id or hostname. */
export async function findUnrevokedAgent(reader: StoreReader, wanted: string): Promise<Agent> {
  const agent = await findAgent(reader, wanted)
  if (agent.revokedAt === null) return agent
  throw new UserError('agent_revoked', `agente ${agent.hostname} is revoked`, {
    hint: 'svc agente list shows which are not; svc token create --reenroll lets a host come back',
  })
}
