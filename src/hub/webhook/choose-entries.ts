// Which entries of a page an endpoint gets: what its selector makes of the hosts that they are about, by a few questions for all of the
// page. docs/protocol.md WHK-18.

import type { AgentId } from '../../protocol/identifiers.ts'
import { isForPeople } from '../../protocol/is-for-people.ts'
import type { Labels } from '../../protocol/labels.ts'
import {
  labelKeysOf,
  matchesSelector,
  type SelectableHost,
  type Selector,
} from '../../protocol/selector.ts'
import type { Agent } from '../domain/agent.ts'
import type { AuditEntry } from '../domain/audit-entry.ts'
import { type EntryHosts, hostsOfEntry, isAboutHosts } from '../domain/entry-hosts.ts'
import { isChosenByDefault } from '../domain/urgent-entries.ts'
import type { Webhook } from '../domain/webhook.ts'
import { isSent } from '../domain/webhook-message.ts'
import type { StoreReader } from '../store/store.ts'

const NO_LABELS: Labels = new Map()

/** By the hosts as they are now. An entry about no host is for an endpoint that names its type. */
export async function chooseEntries(
  reader: StoreReader,
  { url, types, where }: Pick<Webhook, 'url' | 'types' | 'where'>,
  page: readonly AuditEntry[],
): Promise<ReadonlySet<AuditEntry>> {
  const isByDefault = types.length === 0 && isForPeople(url)
  const entries = page.filter(
    (entry) => isSent(entry) && (!isByDefault || isChosenByDefault(entry)),
  )
  if (where === null) return new Set(entries)
  const about = await readHosts(reader, entries)
  const isMatch = await matcherOf(reader, where, about)
  return new Set(
    entries.filter((_, at) => {
      const hosts = about[at]
      return hosts !== undefined && isAboutHosts(hosts) ? isMatch(hosts) : types.length > 0
    }),
  )
}

async function readHosts(
  reader: StoreReader,
  entries: readonly AuditEntry[],
): Promise<readonly EntryHosts[]> {
  const ids = new Set(entries.filter(isActOnDelivery).map(({ deliveryId }) => deliveryId))
  const agents = await reader.listDeliveryAgents([...ids].filter((id) => id !== null))
  return entries.map((entry) =>
    hostsOfEntry(entry, entry.deliveryId === null ? undefined : agents.get(entry.deliveryId)),
  )
}

function isActOnDelivery({ agentId, deliveryId }: AuditEntry): boolean {
  return agentId === null && deliveryId !== null
}

async function matcherOf(
  reader: StoreReader,
  where: Selector,
  about: readonly EntryHosts[],
): Promise<(hosts: EntryHosts) => boolean> {
  const ids = new Set(about.flatMap(({ agentIds }) => agentIds))
  const names = new Set(about.flatMap(({ hostnames }) => hostnames))
  const byId = await reader.findAgents([...ids] as AgentId[])
  const byName = await reader.findAgentsNamed([...names])
  const hosts = await describeHosts(reader, where, [...byId, ...byName])
  const known = new Map(hosts.map((host) => [host.id as string, host]))
  const named = new Map(byName.map(({ id, hostname }) => [hostname as string, known.get(id)]))
  return ({ agentIds, hostnames, said }) =>
    [
      ...agentIds.map((id) => known.get(id)),
      ...hostnames.map((hostname) => named.get(hostname) ?? said),
    ].some((host) => host !== undefined && matchesSelector(where, host))
}

/** With the labels that the selector names; a removed host has those that it had last. */
async function describeHosts(
  reader: StoreReader,
  where: Selector,
  agents: readonly Agent[],
): Promise<readonly (SelectableHost & Pick<Agent, 'id'>)[]> {
  const keys = labelKeysOf(where)
  const ids = agents.map(({ id }) => id)
  const labels = keys.length === 0 ? undefined : await reader.listLabels(ids, keys)
  const removed = agents.filter(({ removedAt }) => removedAt !== null).map(({ id }) => id)
  const last = keys.length === 0 ? undefined : await reader.listLastLabels(removed)
  return agents.map(({ id, hostname, role }) => ({
    id,
    hostname,
    role,
    labels: labels?.get(id) ?? last?.get(id) ?? NO_LABELS,
  }))
}
