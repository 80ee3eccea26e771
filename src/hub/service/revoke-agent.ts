import { HubEventType } from '../../protocol/words.ts'
import type { Actor } from '../domain/actor.ts'
import type { Agent } from '../domain/agent.ts'
import type { AdminOperationsDependencies } from './admin-operations.ts'
import { findAgent } from './find-agent.ts'
import { recordHubAct } from './hub-acts.ts'

/**
 * From the next request on the agent is refused, on open connections too; revoking twice is no error, and asks
 * the CA again for what it refused.
 */
export async function revokeAgent(
  { store, clock, onAgentRevoked }: AdminOperationsDependencies,
  wanted: string,
  actor: Actor,
): Promise<Agent> {
  const agent = await store.write(async (writer) => {
    const found = await findAgent(writer, wanted)
    const now = clock.now()
    const isAskedAgain = await writer.forgetCaRefusals(found.id, now)
    if (found.revokedAt !== null && !isAskedAgain) return found
    const revoked: Agent = { ...found, revokedAt: found.revokedAt ?? now }
    await writer.updateAgent(revoked)
    await writer.revokeCertificates(found.id, now)
    await recordHubAct(writer, now, HubEventType.agentRevoked, {
      actor,
      agente_id: found.id,
      hostname: found.hostname,
    })
    return revoked
  })
  onAgentRevoked?.(agent.id)
  return agent
}
