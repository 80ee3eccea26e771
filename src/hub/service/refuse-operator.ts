// What the admin token of an operator may do only where the politica of the role says so. A token of role admin
// always may, and so may the holder of the vault. docs/protocol.md POL-17, POL-18.

import { AdminRefusal } from './admin-act.ts'
import type { AdminRole } from '../../protocol/admin/roles.ts'
import type { Selector } from '../../protocol/selector.ts'
import type { Agent } from '../domain/agent.ts'
import type { Cargo } from '../domain/cargo.ts'
import type { Policy } from '../domain/policy.ts'
import { findForbiddenSans, policyOfRole, rulesOfRole } from '../domain/role-rules.ts'
import type { StoreReader } from '../store/store.ts'

/** With `--reenroll` a token takes a host's identity over; the politicas of its old and of its new role both have to allow it. */
export async function refuseReenrollment(
  reader: StoreReader,
  { hostname, role }: Pick<Agent, 'hostname' | 'role'>,
  by: AdminRole,
): Promise<void> {
  if (by === 'admin') return
  const agent = await reader.findAgentByHostname(hostname)
  for (const one of new Set([...(agent === undefined ? [] : [agent.role]), role])) {
    const policies = await reader.findPolicies(one)
    if (rulesOfRole(one, policies).mayOperatorsReenroll) continue
    const policy = policyOfRole(one, policies)
    throw new AdminRefusal(
      'reenroll_forbidden',
      `a token of role operator may not enrol ${hostname} again: ${explain(one, policy, 'does not let operators do it')}`,
      { politica: policy?.role ?? one },
    )
  }
}

/** Operators may give the agent's own name and the names of `--san` of its politica; by default there are no such names. */
export async function refuseOperatorsSans(
  reader: StoreReader,
  agents: readonly Pick<Agent, 'hostname' | 'role'>[],
  sans: readonly string[],
  by: AdminRole,
): Promise<void> {
  if (by === 'admin' || sans.length === 0) return
  for (const [role, ofRole] of Map.groupBy(agents, (agent) => agent.role)) {
    const policies = await reader.findPolicies(role)
    for (const { hostname } of ofRole) {
      refuseSans(`agent ${hostname}`, { hostname, role, policies, sans })
    }
  }
}

/** Names that an update adds to a carga also reach the agents to which a politica gives the carga later. */
export async function refuseOperatorsAutomaticSans(
  reader: StoreReader,
  { id, name }: Pick<Cargo, 'id' | 'name'>,
  sans: readonly string[],
  by: AdminRole,
): Promise<void> {
  if (by === 'admin' || sans.length === 0) return
  for (const policy of await reader.listPolicies()) {
    if (!policy.automaticCargoes.includes(id)) continue
    const given = { hostname: '', role: policy.role, policies: [policy], sans }
    refuseSans(`the automatic load ${name}`, given)
  }
}

/**
 * Hosts that come to match later get the names too: so the selector has to say which roles match, and the politica of each has to
 * name them.
 */
export async function refuseOperatorsSelectedSans(
  reader: StoreReader,
  { terms }: Selector,
  sans: readonly string[],
  by: AdminRole,
): Promise<void> {
  if (by === 'admin' || sans.length === 0) return
  const roles = terms.find((term) => term.key === 'role' && !term.isNegated)?.values
  if (roles === undefined) {
    throw new AdminRefusal(
      'san_forbidden',
      'a token of role operator gives names only by a selector that says which roles match, as in role=web',
    )
  }
  for (const role of roles) {
    const policies = await reader.findPolicies(role)
    refuseSans(`hosts of role ${role}`, { hostname: '', role, policies, sans })
  }
}

interface GivenSans {
  readonly hostname: string
  readonly role: string
  readonly policies: readonly Policy[]
  readonly sans: readonly string[]
}

function refuseSans(whom: string, { hostname, role, policies, sans }: GivenSans): void {
  const { operatorSans } = rulesOfRole(role, policies)
  const [first] = findForbiddenSans({ permittedSans: operatorSans }, hostname, sans)
  if (first === undefined) return
  const policy = policyOfRole(role, policies)
  throw new AdminRefusal(
    'san_forbidden',
    `a token of role operator may not give ${whom} the name ${first}: ${explain(role, policy, 'does not name it')}`,
    { politica: policy?.role ?? role, san: first },
  )
}

function explain(role: string, policy: Policy | undefined, what: string): string {
  return policy === undefined
    ? `role ${role} has no policy`
    : `policy ${policy.name}, of role ${policy.role}, ${what}`
}
