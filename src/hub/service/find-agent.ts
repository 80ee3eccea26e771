import { AdminRefusal } from './admin-act.ts'
import type { AgentId } from '../../protocol/identifiers.ts'
import type { Agent } from '../domain/agent.ts'
import type { Selector } from '../../protocol/selector.ts'
import type { StoreReader } from '../store/store.ts'
import { keepMatchingAgents } from './agent-slices.ts'

/** By id or hostname. For a caller that is bounded to some hosts no other host is there. */
export async function findAgent(
  reader: StoreReader,
  wanted: string,
  only?: Selector,
): Promise<Agent> {
  const agent =
    (await reader.findAgentByHostname(wanted)) ?? (await reader.findAgentById(wanted as AgentId))
  const isHidden =
    agent !== undefined &&
    only !== undefined &&
    (await keepMatchingAgents(reader, only, [agent])).length === 0
  if (agent === undefined || isHidden) {
    throw new AdminRefusal('agent_not_found', `no agent ${wanted}`)
  }
  return agent
}
