import { latestOf } from '../../../platform/instants.ts'
import type { Selector } from '../../../protocol/selector.ts'
import type { Rollout } from '../../domain/rollout.ts'
import { placeOf } from '../../domain/rollout-order.ts'
import type { StoreReader } from '../../store/store.ts'
import { readAgentSlice } from '../agent-slices.ts'
import { SLICE_DELIVERIES } from '../cargo/fleet-changes.ts'
import type { HostSlice, WaveHost } from './rollout-acts.ts'

interface AgentWalk {
  /** Undefined for all. */
  readonly where?: Selector | undefined
  readonly after: string
  readonly now: Date
}

/** The next hosts of a rollout that is none of a carga. */
export async function readAgents(
  reader: StoreReader,
  { id }: Rollout,
  { where, after, now }: AgentWalk,
): Promise<HostSlice> {
  const { agents: all, next } = await readAgentSlice(reader, {
    where,
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
