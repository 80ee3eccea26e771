// What the admin token of an operator may do only where the politica of the role says so. A token of role admin
// always may, and so may the holder of the vault. docs/protocol.md POL-17, POL-18.

import { AdminRefusal } from './admin-act.ts'
import type { AdminRole } from '../../protocol/admin/roles.ts'
import { formatSelector, type SelectableHost, type Selector } from '../../protocol/selector.ts'
import type { Agent } from '../domain/agent.ts'
import type { Cargo } from '../domain/cargo.ts'
import type { HostRules } from '../domain/host-rules.ts'
import type { Policy, SelectorPolicy } from '../domain/policy.ts'
import { findForbiddenSans, policyOfRole, rulesOfRole } from '../domain/role-rules.ts'
import type { StoreReader } from '../store/store.ts'
import { findRules, findRulesOf } from './find-rules.ts'
import { parseStored } from './selected-cargoes.ts'

interface Reenrollment {
  /** As it is. */
  readonly enrolled: Agent | undefined
  /** As the token makes it. */
  readonly host: SelectableHost
}

/** With `--reenroll` a token takes a host's identity over; what the host is and what it gets both have to leave that to operators. */
export async function refuseReenrollment(
  reader: StoreReader,
  { enrolled, host }: Reenrollment,
  by: AdminRole,
): Promise<void> {
  if (by === 'admin') return
  if (enrolled !== undefined) {
    const rules = await findRules(reader, enrolled)
    refuseByRules(host.hostname, enrolled.role, rules, await reader.findPolicies(enrolled.role))
  }
  const rules = await findRulesOf(reader, host)
  refuseByRules(host.hostname, host.role, rules, await reader.findPolicies(host.role))
}

function refuseByRules(
  hostname: string,
  role: string,
  rules: HostRules,
  policies: readonly Policy[],
): void {
  if (rules.mayOperatorsReenroll) return
  const policy = policyOfRole(role, policies)
  const narrowing = rules.narrowing.find((each) => each.mayOperatorsReenroll === false)
  // Where the role leaves it to operators, another politica takes it away.
  const isByRole = policy?.mayOperatorsReenroll !== true || narrowing === undefined
  const why = isByRole
    ? explain(role, policy, 'does not let operators do it')
    : explainSelector(narrowing, 'does not let operators do it')
  throw new AdminRefusal(
    'reenroll_forbidden',
    `a token of role operator may not enrol ${hostname} again: ${why}`,
    isByRole ? { politica: policy?.role ?? role } : { nome: narrowing.name },
  )
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

/** Names that are added to a carga also reach the agents that get the carga later, by a politica or by its selector. */
export async function refuseOperatorsAutomaticSans(
  reader: StoreReader,
  { id, name, where }: Pick<Cargo, 'id' | 'name' | 'where'>,
  sans: readonly string[],
  by: AdminRole,
): Promise<void> {
  if (by === 'admin' || sans.length === 0) return
  if (where !== null) await refuseOperatorsSelectedSans(reader, parseStored(where), sans, by)
  for (const policy of await reader.listPolicies()) {
    if (!policy.automaticCargoes.includes(id)) continue
    const given = { hostname: '', role: policy.role, policies: [policy], sans }
    refuseSans(`the automatic load ${name}`, given)
  }
  for (const policy of await reader.listSelectorPolicies()) {
    if (!policy.automaticCargoes.includes(id)) continue
    const permittedSans = policy.areSansNamed ? policy.permittedSans : []
    const [first] = findForbiddenSans({ permittedSans }, '', sans)
    if (first === undefined) continue
    throw new AdminRefusal(
      'san_forbidden',
      `a token of role operator may not give the automatic load ${name} the name ${first}: ${explainSelector(policy, 'does not name it')}`,
      { nome: policy.name, san: first },
    )
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

function explainSelector({ name, selector }: SelectorPolicy, what: string): string {
  return `policy ${name}, of hosts ${formatSelector(selector)}, ${what}`
}
