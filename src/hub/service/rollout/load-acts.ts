// A rollout of a carga: its hosts get the next version, and at an undo the last good one again.

import { latestOf } from '../../../platform/instants.ts'
import type { AgentId } from '../../../protocol/identifiers.ts'
import type { Cargo } from '../../domain/cargo.ts'
import type { LoadRollout } from '../../domain/rollout.ts'
import { placeOf } from '../../domain/rollout-order.ts'
import type { Replacement, StoreReader, StoreWriter } from '../../store/store.ts'
import { SLICE_DELIVERIES } from '../cargo/fleet-changes.ts'
import { newDelivery } from '../cargo/replace-delivery.ts'
import { findItsCargo } from './find-rollout.ts'
import type { HostSlice, LastSlice, RolloutActs, WaveHost } from './rollout-acts.ts'

export const LOAD_ACTS: RolloutActs<LoadRollout> = {
  readHosts: readHosts,
  give: async (writer, rollout, hosts, now) => {
    await giveVersion(writer, rollout, hosts, now)
  },
  finish: finish,
  takeBack: takeBack,
}

async function readHosts(
  reader: StoreReader,
  { id, subject: { cargoId, version } }: LoadRollout,
  after: string,
  now: Date,
): Promise<HostSlice> {
  const step = { after: Number(after), limit: SLICE_DELIVERIES }
  const { deliveries, next } = await reader.listCargoDeliveries(cargoId, step)
  const ids = deliveries.map(({ agentId }) => agentId)
  const agents = new Map((await reader.findAgents(ids)).map((agent) => [agent.id, agent]))
  const polls = await reader.listLastPolls(ids)
  const hosts = deliveries.flatMap((delivery): WaveHost[] => {
    const agent = agents.get(delivery.agentId)
    if (agent === undefined || agent.revokedAt !== null) return []
    const lastHeardAt = latestOf([agent.lastSeenAt, polls.get(agent.id)])
    const place = placeOf(id, agent.id, { lastHeardAt, now })
    return [{ agent, isReached: delivery.version === version, place, delivery: delivery.id }]
  })
  return { hosts, next: next === null ? null : `${next}` }
}

async function giveVersion(
  writer: StoreWriter,
  rollout: LoadRollout,
  hosts: readonly WaveHost[],
  now: Date,
): Promise<AgentId[]> {
  if (hosts.length === 0) return []
  const { version, sans } = rollout.subject
  const next: Cargo = { ...(await findItsCargo(writer, rollout)), version, sans }
  const replacements = hosts.flatMap(({ delivery: old, agent }): Replacement[] =>
    old === null ? [] : [{ old, successor: newDelivery(next, agent.id, now) }],
  )
  await writer.rollouts.give(rollout, replacements, now)
  return replacements.map(({ successor }) => successor.agentId)
}

/** One commit makes the version that of the carga; hosts that got the carga meanwhile are given the version before it, or in it. */
async function finish(writer: StoreWriter, rollout: LoadRollout, now: Date): Promise<LastSlice> {
  const { hosts, next } = await readHosts(writer, rollout, rollout.cursor, now)
  const late = hosts.filter(({ isReached }) => !isReached)
  const agents = await giveVersion(writer, rollout, late, now)
  const cursor = next ?? rollout.cursor
  const after = { ...rollout, given: rollout.given + agents.length, cursor }
  if (next === null) await makeItsVersion(writer, rollout)
  return { rollout: after, agents, isComplete: next === null }
}

async function makeItsVersion(writer: StoreWriter, rollout: LoadRollout): Promise<void> {
  const cargo = await findItsCargo(writer, rollout)
  const { version, sans } = rollout.subject
  await writer.updateCargo({ ...cargo, version, sans })
  const content = await writer.rollouts.findContent(rollout.id)
  if (content === undefined) return
  await writer.setContent(cargo.id, content)
  await writer.rollouts.removeContent(rollout.id)
}

/** The last good version, which the carga has, for the next hosts that were given the other one. */
async function takeBack(writer: StoreWriter, rollout: LoadRollout, now: Date): Promise<LastSlice> {
  const cargo = await findItsCargo(writer, rollout)
  const step = { after: Number(rollout.cursor), limit: SLICE_DELIVERIES }
  const { deliveries, next } = await writer.listCargoDeliveries(cargo.id, step)
  const replacements = deliveries
    .filter(({ version }) => version === rollout.subject.version)
    .map(({ id: old, agentId }) => ({ old, successor: newDelivery(cargo, agentId, now) }))
  await writer.replaceDeliveries(replacements, now)
  if (next === null) await writer.rollouts.removeContent(rollout.id)
  const agents = replacements.map(({ successor }) => successor.agentId)
  const after = { ...rollout, cursor: next === null ? rollout.cursor : `${next}` }
  return { rollout: after, agents, isComplete: next === null }
}
