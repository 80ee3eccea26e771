// A rollout of a set of roots: the hosts of its waves are offered the set that is in force, all others the one that was in force before. Nothing
// is taken back: an agent adopts no lower number. docs/protocol.md RLO-29 to RLO-32.

import type { RootsRollout } from '../../domain/rollout.ts'
import { readAgents } from './read-agents.ts'
import type { RolloutActs } from './rollout-acts.ts'

export const ROOTS_ACTS: RolloutActs<RootsRollout> = {
  readHosts: (reader, rollout, after, now) => readAgents(reader, rollout, { after, now }),
  give: async (writer, rollout, hosts, now) => {
    const { number: mark } = rollout.subject
    const ids = hosts.map(({ agent }) => agent.id)
    const trusts = await writer.listAgentTrust(ids)
    const adopted = new Set(trusts.filter((one) => one.number === mark).map((one) => one.agentId))
    // An agent learns of it when it polls next: at once.
    for (const id of ids) await writer.requestSync(id, now)
    const asked = ids.map((agentId) => ({ agentId, mark, isDone: adopted.has(agentId) }))
    await writer.rollouts.ask(rollout, asked)
  },
  // From then on the set in force is offered to everybody.
  finish: async (_writer, rollout) => ({ rollout, agents: [], isComplete: true }),
  // No agent goes back: nobody may ask for it, and there is nothing to do.
  takeBack: async (_writer, rollout) => ({ rollout, agents: [], isComplete: true }),
}
