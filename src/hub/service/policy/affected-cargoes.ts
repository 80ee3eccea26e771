// What a policy forbids that was allowed when it was delivered: told to the caller who sets the policy. A slice of agents at a
// time, outside the write: nobody waits for it.

import type { AdminRehearsal } from '../../../protocol/admin/operation.ts'
import type { AdminAffectedCargo } from '../../../protocol/admin/views.ts'
import type { Agent } from '../../domain/agent.ts'
import type { Cargo } from '../../domain/cargo.ts'
import {
  EVERY_NAME,
  type Policy,
  type PolicyBounds,
  type SelectorPolicy,
} from '../../domain/policy.ts'
import { findForbiddenSans, policyOfRole, rulesOfRole } from '../../domain/role-rules.ts'
import type { DeliveryWithCargo, StoreReader } from '../../store/store.ts'
import { agentSlices } from '../agent-slices.ts'

export interface GovernedAgents {
  readonly hostnames: readonly string[]
  /** The cargas whose certificates these agents no longer get, with the names that are the reason. */
  readonly affected: readonly AdminAffectedCargo[]
}

/** Of what would be affected, so much is told: a person reads it. */
const FORESEEN_CARGOES_MAX = 50
const FORESEEN_NAMES_MAX = 20

/** The same as figures, for who only asks what a politica would do. docs/protocol.md POL-28. */
export function foresee({
  hostnames,
  affected,
}: GovernedAgents): NonNullable<AdminRehearsal['politica']> {
  return {
    agentes: hostnames.length,
    cargas: affected.length,
    cargas_afetadas: affected.slice(0, FORESEEN_CARGOES_MAX).map((cargo) => ({
      ...cargo,
      sans: cargo.sans.slice(0, FORESEEN_NAMES_MAX),
      agentes: cargo.agentes.length,
    })),
  }
}

/** The agents that the row of `role` holds for: with `*`, the agents of every role that has no row of its own. */
export async function lookAtGovernedAgents(
  reader: StoreReader,
  role: string,
  /** As they would be; as they are without it. */
  planned?: readonly Policy[],
): Promise<GovernedAgents> {
  const policies = planned ?? (await reader.listPolicies())
  const hostnames: string[] = []
  const affected = new Map<Cargo['id'], Affected>()
  for await (const slice of agentSlices(reader)) {
    const agents = slice.filter((agent) => isGoverned(agent, role, policies))
    hostnames.push(...agents.map(({ hostname }) => hostname))
    const boundsOf = (agent: Agent): Bounds => rulesOfRole(agent.role, policies)
    await noteForbidden(reader, affected, agents, boundsOf)
  }
  return { hostnames, affected: [...affected.values()].map(toAdminAffected) }
}

/** The agents that match, and what this politica forbids of what they have; others may forbid more. */
export async function lookAtMatchingAgents(
  reader: StoreReader,
  policy: SelectorPolicy,
): Promise<GovernedAgents> {
  const hostnames: string[] = []
  const affected = new Map<Cargo['id'], Affected>()
  for await (const slice of agentSlices(reader, { where: policy.selector })) {
    const agents = slice.filter(({ revokedAt }) => revokedAt === null)
    hostnames.push(...agents.map(({ hostname }) => hostname))
    await noteForbidden(reader, affected, agents, () => policy)
  }
  return { hostnames, affected: [...affected.values()].map(toAdminAffected) }
}

type Bounds = Pick<PolicyBounds, 'permittedSans'>

async function noteForbidden(
  reader: StoreReader,
  affected: Map<Cargo['id'], Affected>,
  agents: readonly Agent[],
  boundsOf: (agent: Agent) => Bounds,
): Promise<void> {
  const bounded = new Map(
    agents
      .map((agent) => [agent.id, boundsOf(agent)] as const)
      .filter(([, { permittedSans }]) => !permittedSans.includes(EVERY_NAME)),
  )
  if (bounded.size === 0) return
  for (const delivery of await reader.listLiveDeliveries([...bounded.keys()])) {
    const bounds = bounded.get(delivery.agentId)
    const forbidden = bounds && findForbiddenSans(bounds, delivery.hostname, delivery.sans)
    if (forbidden !== undefined && forbidden.length > 0) note(affected, delivery, forbidden)
  }
}

function isGoverned(agent: Agent, role: string, policies: readonly Policy[]): boolean {
  if (agent.revokedAt !== null) return false
  return agent.role === role || policyOfRole(agent.role, policies)?.role === role
}

interface Affected {
  readonly cargo: Cargo
  readonly sans: Set<string>
  readonly hostnames: Set<string>
}

function note(
  affected: Map<Cargo['id'], Affected>,
  { cargo, hostname }: DeliveryWithCargo,
  forbidden: readonly string[],
): void {
  const known = affected.get(cargo.id) ?? { cargo, sans: new Set(), hostnames: new Set() }
  for (const san of forbidden) known.sans.add(san)
  known.hostnames.add(hostname)
  affected.set(cargo.id, known)
}

function toAdminAffected({ cargo, sans, hostnames }: Affected): AdminAffectedCargo {
  return { carga_id: cargo.id, nome: cargo.name, sans: [...sans], agentes: [...hostnames] }
}
