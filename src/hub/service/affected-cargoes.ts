// What a policy forbids that was allowed when it was delivered: told to whoever lays the policy down.

import type { AdminAffectedCargo } from '../../protocol/admin-views.ts'
import type { Agent } from '../domain/agent.ts'
import type { Cargo } from '../domain/cargo.ts'
import { EVERY_NAME } from '../domain/policy.ts'
import { findForbiddenSans, policyOfRole, rulesOfRole } from '../domain/role-rules.ts'
import type { DeliveryWithCargo, StoreReader } from '../store/store.ts'
import { LIVE_STATUSES } from './replace-delivery.ts'

/** Those that the rows of `role` speak for: with `*`, the agents of every role that has no row of its own. */
export async function listGovernedAgents(reader: StoreReader, role: string): Promise<Agent[]> {
  const policies = await reader.listPolicies()
  const agents = await reader.listAgents()
  return agents.filter(
    (agent) =>
      agent.revokedAt === null &&
      (agent.role === role || policyOfRole(agent.role, policies)?.role === role),
  )
}

/** The cargas whose certificates these agents get no more, with the names that are why. */
export async function listAffectedCargoes(
  reader: StoreReader,
  agents: readonly Agent[],
): Promise<AdminAffectedCargo[]> {
  const policies = await reader.listPolicies()
  const rules = new Map(agents.map(({ id, role }) => [id, rulesOfRole(role, policies)]))
  const isBounded = [...rules.values()].some(
    ({ permittedSans }) => !permittedSans.includes(EVERY_NAME),
  )
  if (!isBounded) return []
  const affected = new Map<Cargo['id'], AdminAffectedCargo>()
  for (const delivery of await reader.listDeliveries({ statuses: LIVE_STATUSES })) {
    const ofAgent = rules.get(delivery.agentId)
    const forbidden = ofAgent && findForbiddenSans(ofAgent, delivery.hostname, delivery.sans)
    if (forbidden !== undefined && forbidden.length > 0) note(affected, delivery, forbidden)
  }
  return [...affected.values()]
}

function note(
  affected: Map<Cargo['id'], AdminAffectedCargo>,
  { cargo, hostname }: DeliveryWithCargo,
  forbidden: readonly string[],
): void {
  const known = affected.get(cargo.id)
  affected.set(cargo.id, {
    carga_id: cargo.id,
    nome: cargo.name,
    sans: [...new Set([...(known?.sans ?? []), ...forbidden])],
    agentes: [...new Set([...(known?.agentes ?? []), hostname])],
  })
}
