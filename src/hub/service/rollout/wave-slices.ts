// The hosts of a wave, a slice at a time: counted and put in their order, given the version, and at an undo given the last good one again.

import { setImmediate as nextTurn } from 'node:timers/promises'
import { latestOf } from '../../../platform/instants.ts'
import type { AgentId } from '../../../protocol/identifiers.ts'
import { hostsOfWave } from '../../../protocol/rollout-share.ts'
import type { Cargo } from '../../domain/cargo.ts'
import { isLastWave, type Rollout } from '../../domain/rollout.ts'
import { LAST_PLACE, placeOf, thresholdOf } from '../../domain/rollout-order.ts'
import type { DeliveryWithCargo, Replacement, StoreReader, StoreWriter } from '../../store/store.ts'
import { SLICE_DELIVERIES } from '../cargo/fleet-changes.ts'
import { newDelivery } from '../cargo/replace-delivery.ts'

type WavePlan = Pick<
  Rollout,
  'wave' | 'wanted' | 'threshold' | 'given' | 'isGiven' | 'cursor' | 'openMs' | 'soakedMs'
>

/** Which hosts the wave takes: those with the first places among all that lack the version. docs/protocol.md RLO-4. */
export async function planWave(
  reader: StoreReader,
  rollout: Rollout,
  wanted: number,
  now: Date,
): Promise<WavePlan> {
  const places: number[] = []
  let given = 0
  for (let after: number | null = 0; after !== null;) {
    const { hosts, next }: HostSlice = await readHosts(reader, rollout, after, now)
    given += hosts.filter(({ hasVersion }) => hasVersion).length
    for (const { hasVersion, place } of hosts) if (!hasVersion) places.push(place)
    after = next
    await nextTurn()
  }
  const total = given + places.length
  const targetOf = (wave: number): number => {
    const size = rollout.waves[wave]
    return size === undefined ? total : Math.min(total, hostsOfWave(size, total))
  }
  const last = rollout.waves.length - 1
  let wave = wanted
  // A wave of 10% of five hosts adds nobody to a first wave of one. The wave that is open already stays the same.
  while (wave > rollout.wave && wave < last && targetOf(wave) <= given) wave += 1
  const target = Math.max(targetOf(wave), given)
  return {
    wave,
    wanted: target,
    threshold: wave === last ? LAST_PLACE : thresholdOf(places, target - given),
    given,
    isGiven: false,
    cursor: 0,
    openMs: 0,
    soakedMs: 0,
  }
}

export interface GivenSlice {
  readonly rollout: Rollout
  readonly agents: readonly AgentId[]
}

/** Gives the version to the next hosts of the wave. */
export async function giveSlice(
  writer: StoreWriter,
  rollout: Rollout,
  cargo: Cargo,
  now: Date,
): Promise<GivenSlice> {
  const { hosts, next } = await readHosts(writer, rollout, rollout.cursor, now)
  const isLast = isLastWave(rollout)
  const threshold = rollout.threshold ?? 0
  const room = isLast ? Number.POSITIVE_INFINITY : rollout.wanted - rollout.given
  const chosen = hosts
    .filter(({ hasVersion, place }) => !hasVersion && place <= threshold)
    .slice(0, Math.min(room, hosts.length))
  const agents = await giveVersion(writer, rollout, cargo, chosen, now)
  const given = rollout.given + agents.length
  const isAtEnd = next === null
  const isFull = !isLast && given >= rollout.wanted
  // A host may have fallen silent, or have been revoked, since the wave was counted: then it is counted once more.
  const isShort = isAtEnd && !isLast && !isFull
  const after: Rollout = {
    ...rollout,
    given,
    isGiven: isFull || (isAtEnd && !isShort),
    threshold: isShort ? null : rollout.threshold,
    cursor: isShort ? 0 : (next ?? rollout.cursor),
  }
  await writer.rollouts.update(after)
  await writer.tellOthers({ agents })
  return { rollout: after, agents }
}

/** The version for hosts that got the carga behind the walk of the last wave; whether these were all. */
export async function giveToNewcomers(
  writer: StoreWriter,
  rollout: Rollout,
  cargo: Cargo,
  now: Date,
): Promise<GivenSlice & { readonly isComplete: boolean }> {
  const { hosts, next } = await readHosts(writer, rollout, rollout.cursor, now)
  const chosen = hosts.filter(({ hasVersion }) => !hasVersion)
  const agents = await giveVersion(writer, rollout, cargo, chosen, now)
  const cursor = next ?? rollout.cursor
  const after = { ...rollout, given: rollout.given + agents.length, cursor }
  await writer.tellOthers({ agents })
  return { rollout: after, agents, isComplete: next === null }
}

/** Gives the last good version, which the carga has, to the next hosts that were given the other one; whether these were all. */
export async function takeBackSlice(
  writer: StoreWriter,
  rollout: Rollout,
  cargo: Cargo,
  now: Date,
): Promise<GivenSlice & { readonly isComplete: boolean }> {
  const step = { after: rollout.cursor, limit: SLICE_DELIVERIES }
  const { deliveries, next } = await writer.listCargoDeliveries(cargo.id, step)
  const replacements = deliveries
    .filter(({ version }) => version === rollout.version)
    .map(({ id: old, agentId }) => ({ old, successor: newDelivery(cargo, agentId, now) }))
  await writer.replaceDeliveries(replacements, now)
  const agents = replacements.map(({ successor }) => successor.agentId)
  await writer.tellOthers({ agents })
  const after = { ...rollout, cursor: next ?? rollout.cursor }
  return { rollout: after, agents, isComplete: next === null }
}

interface WaveHost {
  readonly delivery: DeliveryWithCargo
  readonly hasVersion: boolean
  readonly place: number
}

interface HostSlice {
  readonly hosts: readonly WaveHost[]
  /** Null at the end of the carga's entregas. */
  readonly next: number | null
}

/** Without the revoked ones. */
async function readHosts(
  reader: StoreReader,
  { id, cargoId, version }: Rollout,
  after: number,
  now: Date,
): Promise<HostSlice> {
  const step = { after, limit: SLICE_DELIVERIES }
  const { deliveries, next } = await reader.listCargoDeliveries(cargoId, step)
  const ids = deliveries.map(({ agentId }) => agentId)
  const agents = new Map((await reader.findAgents(ids)).map((agent) => [agent.id, agent]))
  const polls = await reader.listLastPolls(ids)
  const hosts = deliveries.flatMap((delivery): WaveHost[] => {
    const agent = agents.get(delivery.agentId)
    if (agent === undefined || agent.revokedAt !== null) return []
    const lastHeardAt = latestOf([agent.lastSeenAt, polls.get(agent.id)])
    const place = placeOf(id, agent.id, { lastHeardAt, now })
    return [{ delivery, hasVersion: delivery.version === version, place }]
  })
  return { hosts, next }
}

async function giveVersion(
  writer: StoreWriter,
  rollout: Rollout,
  cargo: Cargo,
  hosts: readonly WaveHost[],
  now: Date,
): Promise<AgentId[]> {
  if (hosts.length === 0) return []
  const next: Cargo = { ...cargo, version: rollout.version, sans: rollout.sans }
  const replacements = hosts.map(({ delivery: { id: old, agentId } }): Replacement => ({
    old,
    successor: newDelivery(next, agentId, now),
  }))
  await writer.rollouts.give(rollout, replacements, now)
  return replacements.map(({ successor }) => successor.agentId)
}
