import type { AdminReplies } from '../../../protocol/admin/operations.ts'
import { HubEventType } from '../../../protocol/words.ts'
import type { Actor } from '../../domain/actor.ts'
import type { Agent } from '../../domain/agent.ts'
import type { AdminOperationsDependencies } from './admin-operations.ts'
import { endOpenTokens } from './end-open-tokens.ts'
import { findAgent } from '../find-agent.ts'
import { recordHubAct } from '../hub-acts.ts'
import { viewAgent } from './view-agents.ts'

/**
 * From the next request on the agent is refused, on open connections too, and nothing that was made before brings its host
 * back. Revoking twice is no error: it ends what was made since, and asks the CA again for what it refused.
 */
export async function revokeAgent(
  dependencies: AdminOperationsDependencies,
  wanted: string,
  actor: Actor,
): Promise<AdminReplies['revokeAgent']> {
  const { store, clock, onAgentRevoked } = dependencies
  const { agent, ended } = await store.write(async (writer) => {
    const found = await findAgent(writer, wanted)
    const now = clock.now()
    const isAskedAgain = await writer.forgetCaRefusals(found.id, now)
    // The hostname of one that was removed is perhaps another host's by now, and so are the tokens that name it.
    const tokensEnded =
      found.removedAt === null ? await endOpenTokens(writer, found.hostname, now) : 0
    if (found.revokedAt !== null && !isAskedAgain && tokensEnded === 0) {
      return { agent: found, ended: 0 }
    }
    const revoked: Agent = { ...found, revokedAt: found.revokedAt ?? now }
    await writer.updateAgent(revoked)
    await writer.revokeCertificates(found.id, now)
    await recordHubAct(writer, now, HubEventType.agentRevoked, {
      actor,
      agente_id: found.id,
      hostname: found.hostname,
      tokens_ended: tokensEnded,
    })
    return { agent: revoked, ended: tokensEnded }
  })
  onAgentRevoked?.(agent.id)
  return { ...(await viewAgent(dependencies, agent)), tokens_ended: ended }
}
