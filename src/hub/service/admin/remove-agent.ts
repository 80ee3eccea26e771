import { UserError } from '../../../platform/errors.ts'
import { HubEventType } from '../../../protocol/words.ts'
import type { Actor } from '../../domain/actor.ts'
import type { Agent } from '../../domain/agent.ts'
import type { AdminOperationsDependencies } from './admin-operations.ts'
import { cancelDeliveries } from '../cargo/change-delivery.ts'
import { endOpenTokens } from './end-open-tokens.ts'
import { findAgent } from '../find-agent.ts'
import { recordHubAct } from '../hub-acts.ts'
import { listStandingDeliveries } from '../cargo/replace-delivery.ts'

/** A revoked agent leaves the lists and frees its hostname; its history stays. Removing twice is no error. */
export async function removeAgent(
  { store, clock }: AdminOperationsDependencies,
  wanted: string,
  actor: Actor,
): Promise<Agent> {
  return store.write(async (writer) => {
    const agent = await findAgent(writer, wanted)
    if (agent.revokedAt === null) {
      throw new UserError('agent_not_revoked', `agente ${agent.hostname} is not revoked`, {
        hint: `svc agente revoke ${agent.hostname} comes first`,
      })
    }
    // Its hostname is perhaps another host's by now, and so are the tokens that name it.
    if (agent.removedAt !== null) return agent
    const now = clock.now()
    const standing = await listStandingDeliveries(writer, { agentId: agent.id })
    await cancelDeliveries(writer, standing, now, actor)
    await endOpenTokens(writer, agent.hostname, now)
    const removed: Agent = { ...agent, removedAt: now }
    await writer.updateAgent(removed)
    await recordHubAct(writer, now, HubEventType.agentRemoved, {
      actor,
      agente_id: agent.id,
      hostname: agent.hostname,
    })
    return removed
  })
}
