// Who matches the selector of a carga, and who has the carga: two walks, a slice at a time, between which everybody else has a
// turn. docs/protocol.md LBL-21.

import { setImmediate as nextTurn } from 'node:timers/promises'
import { invariant } from '../../../platform/errors.ts'
import type { Agent } from '../../domain/agent.ts'
import type { Cargo } from '../../domain/cargo.ts'
import { findWaitingReason, type WaitingReason } from '../../domain/decide-selected.ts'
import type { DeliveryWithCargo, StoreReader } from '../../store/store.ts'
import { agentSlices, keepMatchingAgents } from '../agent-slices.ts'
import { groupByRules } from '../find-rules.ts'
import { SLICE_DELIVERIES } from './fleet-changes.ts'
import { listStandingOf } from './replace-delivery.ts'
import { parseStored } from '../selected-cargoes.ts'

/** A host that matches, and does not have the carga. */
export interface LackingHost {
  readonly agent: Agent
  /** Undefined for one that gets it at its next poll. */
  readonly reason: WaitingReason | undefined
}

export interface MatchingSlice {
  /** Of the slice. */
  readonly matching: number
  readonly lacking: readonly LackingHost[]
}

/** The hosts that match and are not revoked. */
export async function* matchingSlices(
  reader: StoreReader,
  cargo: Cargo,
): AsyncGenerator<MatchingSlice> {
  if (cargo.where === null) return
  const selector = parseStored(cargo.where)
  for await (const slice of agentSlices(reader, {
    where: selector,
    sliceAgents: SLICE_DELIVERIES,
  })) {
    const agents = slice.filter(({ revokedAt }) => revokedAt === null)
    const ids = agents.map(({ id }) => id)
    const ofAgent = Map.groupBy(await listStandingOf(reader, ids), ({ agentId }) => agentId)
    const groups = await groupByRules(reader, agents)
    const rulesOf = new Map(
      groups.flatMap(({ rules, hosts }) => hosts.map((host) => [host.id, rules])),
    )
    const lacking: LackingHost[] = []
    for (const agent of agents) {
      const had = (ofAgent.get(agent.id) ?? []).map((delivery) => delivery.cargo)
      if (had.some(({ id }) => id === cargo.id)) continue
      const { id, hostname } = agent
      const rules = rulesOf.get(id)
      invariant(rules !== undefined, 'each host has its rules')
      lacking.push({ agent, reason: findWaitingReason(cargo, { hostname, rules }, had) })
    }
    yield { matching: agents.length, lacking }
  }
}

/** The standing entregas of hosts that do not match. */
export async function* unmatchedSlices(
  reader: StoreReader,
  cargo: Cargo,
): AsyncGenerator<readonly DeliveryWithCargo[]> {
  for (let after: number | null = 0; after !== null;) {
    const step: { after: number; limit: number } = { after, limit: SLICE_DELIVERIES }
    const { deliveries, next } = await reader.listCargoDeliveries(cargo.id, step)
    const unmatched = await keepUnmatched(reader, cargo, deliveries)
    if (unmatched.length > 0) yield unmatched
    after = next
    await nextTurn()
  }
}

export async function keepUnmatched(
  reader: StoreReader,
  { where }: Cargo,
  deliveries: readonly DeliveryWithCargo[],
): Promise<DeliveryWithCargo[]> {
  if (where === null) return []
  const agents = await reader.findAgents(deliveries.map(({ agentId }) => agentId))
  const matching = await keepMatchingAgents(reader, parseStored(where), agents)
  const ids = new Set<string>(matching.map(({ id }) => id))
  return deliveries.filter(({ agentId }) => !ids.has(agentId))
}
