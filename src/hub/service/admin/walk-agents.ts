// The ways to agents, each by an index and in its order. A step looks at a bounded number of agents, whatever matches.

import { setImmediate as nextTurn } from 'node:timers/promises'
import type { AGENT_SORTS } from '../../../protocol/admin/agentes.ts'
import type { AgentId } from '../../../protocol/identifiers.ts'
import type { Selector } from '../../../protocol/selector.ts'
import type { IssuedCertificate } from '../../domain/issued-certificate.ts'
import type { Agent } from '../../domain/agent.ts'
import type { HostPage, SourcePage } from '../../store/list-store.ts'
import type { StoreReader } from '../../store/store.ts'
import { AdminRefusal } from '../admin-act.ts'
import { agentSteps, chooseSource, keepMatchingAgents } from '../agent-slices.ts'

export interface HostStep {
  /** `place` is the `after` of what follows the agent. */
  readonly hosts: readonly { readonly agent: Agent; readonly place: string }[]
  /** The place after all that the step has looked at; null at the end. */
  readonly last: string | null
  /** How many it has looked at. */
  readonly count: number
}

export type AgentSort = (typeof AGENT_SORTS)[number]
export type HostWalk = AsyncGenerator<HostStep>

interface Walk {
  readonly where: Selector | undefined
  readonly text: string | undefined
  readonly after: string | undefined
}

const STEP_AGENTS = 500

export interface PlacedHost {
  readonly agent: Agent
  readonly place: string
  readonly key: Key
}

/** `hosts` are all that match. */
export async function* walkCandidates(
  reader: StoreReader,
  hosts: readonly PlacedHost[],
  sort: AgentSort,
  after: string | undefined,
): HostWalk {
  const start = after === undefined ? undefined : await findPlace(reader, sort, after)
  const direction = sort === 'enrolled' ? -1 : 1
  const compare = (one: Key, other: Key): number => direction * compareKeys(one, other)
  const rest = hosts
    .filter(({ key }) => start === undefined || compare(key, start) > 0)
    .toSorted((one, other) => compare(one.key, other.key))
  yield { hosts: rest, last: null, count: rest.length }
}

type Key = readonly (string | number)[]

function compareKeys(one: Key, other: Key): number {
  const at = one.findIndex((part, index) => part !== other[index])
  if (at === -1) return 0
  return (one[at] ?? '') < (other[at] ?? '') ? -1 : 1
}

/** In no order. By the end of its certificates an agent has a place when it has one in use. */
export async function placeAll(
  reader: StoreReader,
  agents: readonly Agent[],
  sort: AgentSort,
): Promise<readonly PlacedHost[]> {
  if (sort !== 'end') {
    return agents.map((agent) => ({ ...placeById(agent), key: keyOf(agent, sort) }))
  }
  const agentOf = new Map(agents.map((agent) => [agent.id, agent]))
  const firsts = await reader.listFirstOfAgents([...agentOf.keys()])
  return firsts.flatMap((first) => {
    const agent = agentOf.get(first.agentId)
    return agent === undefined ? [] : [{ agent, place: first.sha256, key: endKeyOf(first) }]
  })
}

async function findPlace(reader: StoreReader, sort: AgentSort, after: string): Promise<Key> {
  if (sort === 'end') {
    const certificate = await reader.findCertificate(after)
    if (certificate === undefined) throw cursorUnknown(after)
    return endKeyOf(certificate)
  }
  const agent = await reader.findAgentById(after as AgentId)
  if (agent === undefined) throw cursorUnknown(after)
  return keyOf(agent, sort)
}

function keyOf({ hostname, createdAt, id }: Agent, sort: 'hostname' | 'enrolled'): Key {
  return sort === 'hostname' ? [hostname] : [createdAt.getTime(), id]
}

function endKeyOf({ notAfter, agentId }: Pick<IssuedCertificate, 'notAfter' | 'agentId'>): Key {
  return [notAfter.getTime(), agentId]
}

export async function* walkByName(
  reader: StoreReader,
  { stepAgents = STEP_AGENTS, ...walk }: Walk & { readonly stepAgents: number | undefined },
): HostWalk {
  const { after } = walk
  const start = after === undefined ? undefined : await reader.findAgentById(after as AgentId)
  if (after !== undefined && start === undefined) throw cursorUnknown(after)
  const sliceAgents = Math.min(stepAgents, STEP_AGENTS)
  for await (const { agents, ...step } of agentSteps(reader, { ...walk, sliceAgents })) {
    yield { hosts: agents.map(placeById), ...step }
  }
}

/** The host whose first certificate ends first comes first. */
export function walkByEnd(
  reader: StoreReader,
  { until, ...walk }: Walk & { readonly until: Date | undefined },
): HostWalk {
  return walkPages(reader, walk, (page) => reader.pageHostsByEnd({ ...page, until }))
}

/** The last one first. */
export function walkByEnrolment(reader: StoreReader, walk: Walk): HostWalk {
  return walkPages(reader, walk, (page) => reader.pageHostsByEnrolment(page))
}

/** Of the hosts that a step looks at, the rows of those are read that the best index of the selector has. */
async function* walkPages(
  reader: StoreReader,
  { after, ...match }: Walk,
  read: (page: SourcePage) => Promise<HostPage | undefined>,
): HostWalk {
  const source = await chooseSource(reader, match.where)
  for (let start = after; ;) {
    const page = await read({ source, after: start, limit: STEP_AGENTS })
    if (page === undefined) throw cursorUnknown(after)
    const kept = await keepMatching(
      reader,
      match,
      page.hosts.map(({ agent }) => agent),
    )
    const hosts = page.hosts.filter(({ agent }) => kept.has(agent.id))
    yield { hosts, last: page.last, count: STEP_AGENTS }
    if (page.last === null) return
    start = page.last
    await nextTurn()
  }
}

async function keepMatching(
  reader: StoreReader,
  { where, text }: Pick<Walk, 'where' | 'text'>,
  agents: readonly Agent[],
): Promise<ReadonlySet<AgentId>> {
  const named = text === undefined ? agents : agents.filter((one) => one.hostname.includes(text))
  const kept = where === undefined ? named : await keepMatchingAgents(reader, where, named)
  return new Set(kept.map(({ id }) => id))
}

function placeById(agent: Agent): HostStep['hosts'][number] {
  return { agent, place: agent.id }
}

function cursorUnknown(after: string | undefined): AdminRefusal {
  return new AdminRefusal('cursor_unknown', `after: there is no ${after} in this list`)
}
