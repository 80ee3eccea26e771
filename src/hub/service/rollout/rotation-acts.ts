// A rollout of a rotation: its hosts are asked to renew their identities. What a host has renewed stays; an undo asks no further host, and takes
// the request back from those that have not followed it. docs/protocol.md RLO-24 to RLO-27.

import { HubEventType } from '../../../protocol/words.ts'
import type { RotationRollout } from '../../domain/rollout.ts'
import type { AgentId } from '../../../protocol/identifiers.ts'
import type { RequestedRotation } from '../../domain/agent-requests.ts'
import type { StoreReader, StoreWriter } from '../../store/store.ts'
import { askForRotation } from '../ask-for-rotation.ts'
import { SLICE_DELIVERIES } from '../cargo/fleet-changes.ts'
import { recordHubAct } from '../hub-acts.ts'
import { parseDecidingWhere } from '../parse-where.ts'
import { readAgents } from './read-agents.ts'
import type { RolloutActs, WaveHost } from './rollout-acts.ts'

export const ROTATION_ACTS: RolloutActs<RotationRollout> = {
  readHosts: (reader, rollout, after, now) => {
    const { where } = rollout.subject
    const selector = where === null ? undefined : parseDecidingWhere(where)
    return readAgents(reader, rollout, { where: selector, after, now })
  },
  give: ask,
  // A host that enrols behind the last wave has a new identity as it is.
  finish: async (_writer, rollout) => ({ rollout, agents: [], isComplete: true }),
  takeBack: async (writer, rollout) => {
    const withdrawn = await writer.rollouts.withdraw(rollout.id, SLICE_DELIVERIES)
    return { rollout, agents: [], isComplete: withdrawn.length < SLICE_DELIVERIES }
  },
}

/** Each with an entry of its own, as where an operator asks one host: evidence names it. docs/protocol.md PSH-13. */
async function ask(
  writer: StoreWriter,
  rollout: RotationRollout,
  hosts: readonly WaveHost[],
  now: Date,
): Promise<void> {
  const asked = []
  for (const { agent } of hosts) {
    const outstanding = await findOutstanding(writer, agent.id)
    const { afterSeq: mark } = outstanding ?? (await askForRotation(writer, agent.id, now))
    asked.push({ agentId: agent.id, mark, isOwnRequest: outstanding === undefined })
    const of = { rollout: rollout.id, wave: rollout.wave + 1 }
    const payload = { actor: 'hub', agente_id: agent.id, hostname: agent.hostname, ...of }
    await recordHubAct(writer, now, HubEventType.agentRotateRequested, payload)
  }
  await writer.rollouts.ask(rollout, asked)
}

/** A request that was made before, and that only an identity of after now fulfils: an undo would take back a new one in its place. */
async function findOutstanding(
  reader: StoreReader,
  id: AgentId,
): Promise<RequestedRotation | undefined> {
  const { rotation } = await reader.findAgentRequests(id)
  const newest = await reader.findNewestIdentity(id)
  return rotation !== null && rotation.afterSeq >= (newest?.seq ?? 0) ? rotation : undefined
}
