import { AdminRefusal, type Write } from '../admin-act.ts'
import { HubEventType } from '../../../protocol/words.ts'
import type { Agent } from '../../domain/agent.ts'
import { cancelDeliveries } from '../cargo/change-delivery.ts'
import { listStandingDeliveries } from '../cargo/replace-delivery.ts'
import { findAgent } from '../find-agent.ts'
import { endOpenTokens } from '../end-open-tokens.ts'
import { type AgentViewContext, viewAgent } from './view-agents.ts'

/** A revoked agent leaves the lists and frees its hostname; its history stays. Removing twice is no error. */
export const removeAgent: Write<'removeAgent', AgentViewContext> = async (
  writer,
  { agente },
  context,
) => {
  const agent = await findAgent(writer, agente)
  if (agent.revokedAt === null) {
    throw new AdminRefusal('agent_not_revoked', `agent ${agent.hostname} is not revoked`, {
      hostname: agent.hostname,
    })
  }
  // Another host may have its hostname now, and the tokens that name it may be for that host.
  if (agent.removedAt !== null) return { acts: [], reply: () => viewAgent(context, agent) }
  const now = context.clock.now()
  const standing = await listStandingDeliveries(writer, { agentId: agent.id })
  const cancellations = await cancelDeliveries(writer, standing, now)
  await endOpenTokens(writer, agent.hostname, now)
  const removed: Agent = { ...agent, removedAt: now }
  await writer.updateAgent(removed)
  const act = { agente_id: agent.id, hostname: agent.hostname }
  return {
    acts: [...cancellations, { type: HubEventType.agentRemoved, payload: act }],
    reply: () => viewAgent(context, removed),
  }
}
