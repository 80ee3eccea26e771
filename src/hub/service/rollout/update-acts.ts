// A rollout of an update: the manifests of its hosts name the version. What a host makes of that it decides, and says; an undo tells nobody any
// more, and brings no host back to an older version. docs/protocol.md RLO-36 to RLO-41.

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
  // Which version a host has it says itself, when it learns of this one.
  give: (writer, rollout, hosts) =>
    writer.rollouts.ask(
      rollout,
      hosts.map(({ agent }) => ({ agentId: agent.id, mark: 0 })),
    ),
  // A host that enrols behind the last wave has the agent that it was installed with.
  finish: async (_writer, rollout) => ({ rollout, agents: [], isComplete: true }),
  takeBack: async (writer, rollout) => {
    const agents = await writer.rollouts.withdraw(rollout.id, SLICE_DELIVERIES)
    return { rollout, agents, isComplete: agents.length < SLICE_DELIVERIES }
  },
}
