// A rollout of a rotation: its hosts are asked to renew their identities. What a host has renewed stays; an undo asks no further host, and takes
// the request back from those that have not followed it. docs/protocol.md RLO-24 to RLO-27.

import { latestOf } from '../../../platform/instants.ts'
import { HubEventType } from '../../../protocol/words.ts'
import type { RotationRollout } from '../../domain/rollout.ts'
import { placeOf } from '../../domain/rollout-order.ts'
import type { StoreReader, StoreWriter } from '../../store/store.ts'
import { readAgentSlice } from '../agent-slices.ts'
import { askForRotation } from '../ask-for-rotation.ts'
import { SLICE_DELIVERIES } from '../cargo/fleet-changes.ts'
import { recordHubAct } from '../hub-acts.ts'
import { parseDecidingWhere } from '../parse-where.ts'
import type { HostSlice, RolloutActs, WaveHost } from './rollout-acts.ts'

export const ROTATION_ACTS: RolloutActs<RotationRollout> = {
  readHosts: readHosts,
  give: ask,
  // A host that enrols behind the last wave has a new identity as it is.
  finish: async (_writer, rollout) => ({ rollout, agents: [], isComplete: true }),
  takeBack: async (writer, rollout) => {
    const withdrawn = await writer.rollouts.withdraw(rollout.id, SLICE_DELIVERIES)
    return { rollout, agents: [], isComplete: withdrawn.length < SLICE_DELIVERIES }
  },
}

async function readHosts(
  reader: StoreReader,
  { id, subject }: RotationRollout,
  after: string,
  now: Date,
): Promise<HostSlice> {
  const { agents: all, next } = await readAgentSlice(reader, {
    where: subject.where === null ? undefined : parseDecidingWhere(subject.where),
    after: after === '' ? undefined : after,
    sliceAgents: SLICE_DELIVERIES,
  })
  const agents = all.filter(({ revokedAt }) => revokedAt === null)
  const ids = agents.map((agent) => agent.id)
  const reached = new Set(await reader.rollouts.listReached(id, ids))
  const polls = await reader.listLastPolls(ids)
  const hosts = agents.map((agent): WaveHost => {
    const lastHeardAt = latestOf([agent.lastSeenAt, polls.get(agent.id)])
    const place = placeOf(id, agent.id, { lastHeardAt, now })
    return { agent, isReached: reached.has(agent.id), place, delivery: null }
  })
  return { hosts, next }
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
    const { afterSeq } = await askForRotation(writer, agent.id, now)
    asked.push({ agentId: agent.id, afterSeq })
    const of = { rollout: rollout.id, wave: rollout.wave + 1 }
    const payload = { actor: 'hub', agente_id: agent.id, hostname: agent.hostname, ...of }
    await recordHubAct(writer, now, HubEventType.agentRotateRequested, payload)
  }
  await writer.rollouts.ask(rollout, asked)
}
