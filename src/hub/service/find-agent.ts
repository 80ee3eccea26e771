import { AdminRefusal } from './admin-act.ts'
import type { AgentId } from '../../protocol/identifiers.ts'
import type { Agent } from '../domain/agent.ts'
import type { StoreReader } from '../store/store.ts'

/** By id or hostname. */
export async function findAgent(reader: StoreReader, wanted: string): Promise<Agent> {
  const agent =
    (await reader.findAgentByHostname(wanted)) ?? (await reader.findAgentById(wanted as AgentId))
  if (agent === undefined) {
    throw new AdminRefusal('agent_not_found', `no agent ${wanted}`)
  }
  return agent
}
