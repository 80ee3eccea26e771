// An operator's labels on one host, or on each host that matches. Of many hosts each slice is a commit of its own, with an entry
// that names its hosts: what was done stands in the log at every instant. docs/protocol.md LBL-8 to LBL-10.

import { setImmediate as nextTurn } from 'node:timers/promises'
import type { AdminReplies, AdminRequest } from '../../../protocol/admin/operations.ts'
import type { AgentId } from '../../../protocol/identifiers.ts'
import { toLabelRecord } from '../../../protocol/labels.ts'
import { formatSelector, labelKeysOf, type Selector } from '../../../protocol/selector.ts'
import { HubEventType } from '../../../protocol/words.ts'
import type { Agent } from '../../domain/agent.ts'
import {
  countGiven,
  findLabelChange,
  hasTooMany,
  type LabelChange,
  type WantedLabels,
  withLabels,
} from '../../domain/label-change.ts'
import type { Store, StoreReader } from '../../store/store.ts'
import { type AdminAct, AdminRefusal, type AdminTurn, type Course } from '../admin-act.ts'
import { parseStored } from '../selected-cargoes.ts'
import { agentSlices, keepMatchingAgents } from '../agent-slices.ts'
import { findAgent } from '../find-agent.ts'
import { parseDecidingWhere } from '../parse-where.ts'
import { parseWantedLabels, tooManyLabels } from './parse-labels.ts'

type Labelled = AdminReplies['labelAgents']
type Host = Pick<Agent, 'id' | 'hostname'>

/** How many hosts one write labels. */
const SLICE_HOSTS = 250

export const labelAgents: Course<'labelAgents', { readonly store: Store }> = {
  run: (turn, request, { store }) => {
    const wanted = parseWantedLabels(request.set, request.remove)
    return request.where === undefined
      ? labelOne(turn, requireAgent(request), wanted)
      : labelMatching(turn, store.reader, requireWhere(request, request.where), wanted)
  },
}

function requireAgent({ agente }: AdminRequest<'labelAgents'>): string {
  if (agente !== undefined) return agente
  throw new AdminRefusal('request_invalid', 'agente or where is missing')
}

function requireWhere({ agente }: AdminRequest<'labelAgents'>, where: string): Selector {
  if (agente === undefined) return parseDecidingWhere(where)
  throw new AdminRefusal('request_invalid', 'agente and where do not go together')
}

/** A revoked host too: it may come back. */
function labelOne(turn: AdminTurn, name: string, wanted: WantedLabels): Promise<Labelled> {
  return turn.commit(async (writer) => {
    const agent = await findAgent(writer, name)
    if (agent.removedAt !== null) throw new AdminRefusal('agent_not_found', `no agent ${name}`)
    const [change] = await planChanges(writer, [agent], wanted)
    if (change === undefined) return { acts: [], reply: { agentes: 1, changed: 0 } }
    await writer.changeLabels([change])
    const { set, removed } = change
    const payload = { agente_id: agent.id, hostname: agent.hostname, ...describe(set, removed) }
    const acts = [{ type: HubEventType.labelsChanged, payload }]
    const agents = (await mayMatch(writer, wanted)) ? [agent.id] : []
    return { acts, reply: { agentes: 1, changed: 1 }, news: { agents } }
  })
}

async function labelMatching(
  turn: AdminTurn,
  reader: StoreReader,
  where: Selector,
  wanted: WantedLabels,
): Promise<Labelled> {
  let agentes = 0
  const hosts: Host[] = []
  for await (const slice of agentSlices(reader, { where, sliceAgents: SLICE_HOSTS })) {
    const present = slice.filter(isPresent)
    agentes += present.length
    hosts.push(...(await keepChanging(reader, present, wanted)))
  }
  const act = (some: readonly Host[]): AdminAct => actOnMany(where, wanted, some)
  if (turn.rehearse !== undefined) {
    const told = (await mayMatch(reader, wanted)) ? hosts.map(({ id }) => id) : []
    return turn.rehearse(slicesOf(hosts).map(act), told)
  }
  let changed = 0
  for (const slice of slicesOf(hosts)) {
    changed += await turn.commit(async (writer) => {
      // As they are now: they may have been labelled, revoked or removed since they were read.
      const agents = await writer.findAgents(slice.map(({ id }) => id))
      const present = await keepMatchingAgents(writer, where, agents.filter(isPresent))
      const changes = await planChanges(writer, present, wanted)
      await writer.changeLabels(changes)
      const ids = new Set<AgentId>(changes.map(({ agentId }) => agentId))
      const labelled = present.filter(({ id }) => ids.has(id))
      const acts = labelled.length === 0 ? [] : [act(labelled)]
      const told = (await mayMatch(writer, wanted)) ? [...ids] : []
      return { acts, reply: labelled.length, news: { agents: told } }
    })
    await nextTurn()
  }
  return { agentes, changed }
}

/** Whether a host may match the selector of a carga now that it did not match before: then its agent polls at once. */
async function mayMatch(reader: StoreReader, { set, remove }: WantedLabels): Promise<boolean> {
  const changed = new Set([...set.keys(), ...remove])
  const selected = await reader.listSelectedCargoes()
  return selected.some(({ where }) =>
    labelKeysOf(parseStored(where ?? '')).some((key) => changed.has(key)),
  )
}

function isPresent({ revokedAt, removedAt }: Agent): boolean {
  return revokedAt === null && removedAt === null
}

async function keepChanging(
  reader: StoreReader,
  agents: readonly Agent[],
  wanted: WantedLabels,
): Promise<Host[]> {
  const changes = await planChanges(reader, agents, wanted)
  const ids = new Set<AgentId>(changes.map(({ agentId }) => agentId))
  return agents.filter(({ id }) => ids.has(id)).map(({ id, hostname }) => ({ id, hostname }))
}

/** Of the hosts that it changes. Throws when one of them would have too many. */
async function planChanges(
  reader: StoreReader,
  agents: readonly Agent[],
  wanted: WantedLabels,
): Promise<LabelChange[]> {
  const labels = await reader.listLabels(agents.map(({ id }) => id))
  return agents.flatMap(({ id, hostname }) => {
    const before = labels.get(id) ?? new Map<string, string>()
    const after = withLabels(before, wanted)
    if (hasTooMany(before, after)) throw tooManyLabels(hostname, countGiven(after))
    return findLabelChange(id, before, after) ?? []
  })
}

function slicesOf(hosts: readonly Host[]): (readonly Host[])[] {
  const slices: (readonly Host[])[] = []
  for (let start = 0; start < hosts.length; start += SLICE_HOSTS) {
    slices.push(hosts.slice(start, start + SLICE_HOSTS))
  }
  return slices
}

/** What was asked of each of them; some had a part of it before. */
function actOnMany(
  where: Selector,
  { set, remove }: WantedLabels,
  hosts: readonly Host[],
): AdminAct {
  const payload = {
    where: formatSelector(where),
    agentes: hosts.map(({ hostname }) => hostname),
    ...describe(set, remove),
  }
  return { type: HubEventType.labelsChanged, payload }
}

function describe(set: WantedLabels['set'], removed: readonly string[]) {
  return { set: toLabelRecord(set), removed: removed.toSorted() }
}
