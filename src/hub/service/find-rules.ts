// The rules of hosts, from the politicas and the labels as they are now.

import type { Labels } from '../../protocol/labels.ts'
import { labelKeysOf, type SelectableHost } from '../../protocol/selector.ts'
import type { Agent } from '../domain/agent.ts'
import type { EnrollmentToken } from '../domain/enrollment-token.ts'
import { type HostRules, matchingPolicies, narrowRules, rulesOfHost } from '../domain/host-rules.ts'
import { enrolledLabels } from '../domain/label-change.ts'
import type { SelectorPolicy } from '../domain/policy.ts'
import { rulesOfRole } from '../domain/role-rules.ts'
import type { StoreReader } from '../store/store.ts'

type Host = Pick<Agent, 'id' | 'hostname' | 'role'>

const NO_LABELS: Labels = new Map()

/** Of a host as it is. */
export async function findRules(reader: StoreReader, agent: Host): Promise<HostRules> {
  const role = rulesOfRole(agent.role, await reader.findPolicies(agent.role))
  const policies = await reader.listSelectorPolicies()
  const labels = await readLabels(reader, policies, [agent])
  return rulesOfHost(role, policies, selectable(agent, labels))
}

/** Of a host that is to be. */
export async function findRulesOf(reader: StoreReader, host: SelectableHost): Promise<HostRules> {
  const role = rulesOfRole(host.role, await reader.findPolicies(host.role))
  return rulesOfHost(role, await reader.listSelectorPolicies(), host)
}

export interface RuledHosts<Of extends Host> {
  readonly rules: HostRules
  readonly hosts: readonly Of[]
}

/** The hosts by what holds for them: one group for all hosts of a role that the same politicas match. */
export async function groupByRules<Of extends Host>(
  reader: StoreReader,
  hosts: readonly Of[],
): Promise<readonly RuledHosts<Of>[]> {
  const policies = await reader.listSelectorPolicies()
  const labels = await readLabels(reader, policies, hosts)
  const groups: RuledHosts<Of>[] = []
  for (const [role, ofRole] of Map.groupBy(hosts, (host) => host.role)) {
    const ofPolicies = rulesOfRole(role, await reader.findPolicies(role))
    const matching = new Map(
      ofRole.map((host) => [host, matchingPolicies(policies, selectable(host, labels))]),
    )
    const namesOf = (host: Of): string =>
      JSON.stringify(matching.get(host)?.map(({ name }) => name))
    for (const [first, ...others] of Map.groupBy(ofRole, namesOf).values()) {
      if (first === undefined) continue
      const rules = narrowRules(ofPolicies, matching.get(first) ?? [])
      groups.push({ rules, hosts: [first, ...others] })
    }
  }
  return groups
}

/** The host that the token makes: one that enrols again keeps its labels. docs/protocol.md LBL-4. */
export async function hostOfToken(
  reader: StoreReader,
  { expectedHostname: hostname, expectedRole: role, labels }: NamedByToken,
  enrolled: Agent | undefined,
): Promise<SelectableHost> {
  const before = enrolled && (await reader.listLabels([enrolled.id])).get(enrolled.id)
  return { hostname, role, labels: enrolledLabels(before ?? NO_LABELS, labels) }
}

type NamedByToken = Pick<EnrollmentToken, 'expectedHostname' | 'expectedRole' | 'labels'>

/** Whether the politicas of the host as it is, and as the token makes it, leave it to operators. */
export async function mayOperatorsReenroll(
  reader: StoreReader,
  token: EnrollmentToken | undefined,
  agent: Agent | undefined,
): Promise<boolean> {
  if (token?.isOperators !== true || agent === undefined) return false
  const has = await findRules(reader, agent)
  const gets = await findRulesOf(reader, await hostOfToken(reader, token, agent))
  return has.mayOperatorsReenroll && gets.mayOperatorsReenroll
}

/** Of the hosts, what the politicas look at; by one question. */
async function readLabels(
  reader: StoreReader,
  policies: readonly SelectorPolicy[],
  hosts: readonly Host[],
): Promise<ReadonlyMap<Host['id'], Labels>> {
  const keys = [...new Set(policies.flatMap(({ selector }) => labelKeysOf(selector)))]
  if (keys.length === 0) return new Map()
  return reader.listLabels(
    hosts.map(({ id }) => id),
    keys,
  )
}

function selectable(
  { id, hostname, role }: Host,
  labels: ReadonlyMap<Host['id'], Labels>,
): SelectableHost {
  return { hostname, role, labels: labels.get(id) ?? NO_LABELS }
}
