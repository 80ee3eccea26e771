// A rollout of an update: the manifests of its hosts name the version. What a host makes of that it decides, and says; an undo tells nobody any
// more, and brings no host back to an older version. docs/protocol.md RLO-36 to RLO-41.

import type { AgentSighting } from '../../domain/agent-sighting.ts'
import type { UpdateRollout } from '../../domain/rollout.ts'
import { SLICE_DELIVERIES } from '../cargo/fleet-changes.ts'
import { parseDecidingWhere } from '../parse-where.ts'
import { readAgents } from './read-agents.ts'
import type { RolloutActs } from './rollout-acts.ts'

export const UPDATE_ACTS: RolloutActs<UpdateRollout> = {
  readHosts: (reader, rollout, after, now) => {
    const { where } = rollout.subject
    const selector = where === null ? undefined : parseDecidingWhere(where)
    return readAgents(reader, rollout, { where: selector, after, now })
  },
  // Which version a host has it says itself, when it learns of this one; but an old one does not learn of it.
  give: async (writer, rollout, hosts) => {
    const ids = hosts.map(({ agent }) => agent.id)
    const deaf = new Map(
      (await writer.listSightings(ids)).filter(isDeaf).map((one) => [one.agentId, one.version]),
    )
    const asked = ids.map((agentId) => {
      const version = deaf.get(agentId)
      const declined = version && `its agent is ${version}: those up to 0.4.0 hear of no update`
      return { agentId, mark: 0, ...(typeof declined === 'string' && { declined }) }
    })
    await writer.rollouts.ask(rollout, asked)
  },
  // A host that enrols behind the last wave has the agent that it was installed with.
  finish: async (_writer, rollout) => ({ rollout, agents: [], isComplete: true }),
  takeBack: async (writer, rollout) => {
    const agents = await writer.rollouts.withdraw(rollout.id, SLICE_DELIVERIES)
    return { rollout, agents, isComplete: agents.length < SLICE_DELIVERIES }
  },
}

/** An agent up to 0.4.0, which does not say of its platform. */
function isDeaf({ version, platform }: AgentSighting): boolean {
  return version !== null && platform === null
}
