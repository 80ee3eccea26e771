import { HubEventType } from '../../../protocol/words.ts'
import type { Agent } from '../../domain/agent.ts'
import type { Write } from '../admin-act.ts'
import { findAgent } from '../find-agent.ts'
import { endOpenTokens } from '../end-open-tokens.ts'
import { type AgentViewContext, viewAgent } from './view-agents.ts'

/**
 * From the next request on the agent is refused, on open connections too, and nothing that was made before brings its host
 * back. Revoking twice is no error: it ends what was made since, and asks the CA again for what it refused.
 */
export const revokeAgent: Write<'revokeAgent', AgentViewContext> = async (
  writer,
  { agente },
  context,
) => {
  const found = await findAgent(writer, agente, context.only)
  const now = context.clock.now()
  const isAskedAgain = await writer.forgetCaRefusals(found.id, now)
  // Another host may have the hostname of a removed agent now, and the tokens that name it may be for that host.
  const ended = found.removedAt === null ? await endOpenTokens(writer, found.hostname, now) : 0
  const news = { revoked: found.id }
  const reply = async (agent: Agent) => ({
    ...(await viewAgent(context, agent)),
    tokens_ended: ended,
  })
  if (found.revokedAt !== null && !isAskedAgain && ended === 0) {
    return { acts: [], news, reply: () => reply(found) }
  }
  const revoked: Agent = { ...found, revokedAt: found.revokedAt ?? now }
  await writer.updateAgent(revoked)
  await writer.revokeCertificates(found.id, now)
  const act = { agente_id: found.id, hostname: found.hostname, tokens_ended: ended }
  return {
    acts: [{ type: HubEventType.agentRevoked, payload: act }],
    news,
    reply: () => reply(revoked),
  }
}
