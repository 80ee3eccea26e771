// Agents by hostname, a slice at a time: all of them, or those that a selector matches. Of these the index that has the fewest
// is walked, and what else they need is looked up for a slice at once. docs/protocol.md FLT-7, LBL-6.

import { setImmediate as nextTurn } from 'node:timers/promises'
import type { AgentId } from '../../protocol/identifiers.ts'
import type { Labels } from '../../protocol/labels.ts'
import { labelKeysOf, matchesSelector, type Selector } from '../../protocol/selector.ts'
import type { Agent } from '../domain/agent.ts'
import { exactSourceOf, type HostSource, sourcesOf } from '../domain/host-source.ts'
import type { NamesFound } from '../store/list-store.ts'
import type { Page, StoreReader } from '../store/store.ts'

export interface AgentWalk {
  /** Undefined for all agents. */
  readonly where?: Selector | undefined
  /** A part of their hostnames, in lower case. */
  readonly text?: string | undefined
  /** The id of the agent that it starts after. */
  readonly after?: string | undefined
  /** How many are looked at between two turns. */
  readonly sliceAgents?: number
}

/** Few enough that no caller notices the wait for them. */
const SLICE_AGENTS = 500
/** A millisecond. */
const SLICE_NAMES = 5000
/** No index is counted further: beyond it each is long. */
const COUNTED_MAX = 2000
const ALL: HostSource = { by: 'all' }
const NO_LABELS: Labels = new Map()

export interface AgentStep {
  /** That match, of those that it looked at. */
  readonly agents: readonly Agent[]
  /** After which the next step begins; null at the end. */
  readonly last: AgentId | null
  /** How many agents it has looked at. */
  readonly count: number
}

/**
 * All agents that are not removed. Between two slices all other callers have a turn; an agent that is enrolled, removed or
 * labelled meanwhile may be among them or not.
 */
export async function* agentSlices(
  reader: StoreReader,
  walk: AgentWalk = {},
): AsyncGenerator<readonly Agent[]> {
  for await (const { agents } of agentSteps(reader, walk)) if (agents.length > 0) yield agents
}

/** The same, also of the slices of which none matches. */
export async function* agentSteps(
  reader: StoreReader,
  { where, text, after, sliceAgents: limit = SLICE_AGENTS }: AgentWalk,
): AsyncGenerator<AgentStep> {
  const source = await chooseSource(reader, where)
  if (text !== undefined) {
    yield* namedSteps(reader, { where, source, text, after, limit })
    return
  }
  // The hosts of its index are those that match.
  const isExact = where === undefined || exactSourceOf(where) !== undefined
  for (let start = after; ;) {
    const slice = await reader.pageHosts(source, { after: start, limit })
    const agents = isExact ? slice : await keepMatchingAgents(reader, where, slice)
    const last = slice.length < limit ? null : (slice.at(-1)?.id ?? null)
    yield { agents, last, count: slice.length }
    if (last === null) return
    start = last
    await nextTurn()
  }
}

/** Names are looked at by the index that has them, and only the agents that have the text are read. */
async function* namedSteps(
  reader: StoreReader,
  {
    where,
    source,
    text,
    after,
    limit,
  }: { where: Selector | undefined; source: HostSource; text: string } & Page,
): AsyncGenerator<AgentStep> {
  const start = after === undefined ? undefined : await reader.findAgentById(after as AgentId)
  for (let place: string | null | undefined = start?.hostname; place !== null;) {
    const search = { source, text, after: place, looked: SLICE_NAMES }
    const { hostnames, last }: NamesFound = await reader.searchNames(search)
    for (let at = 0; at < hostnames.length; at += limit) {
      const slice = await reader.findAgentsNamed(hostnames.slice(at, at + limit))
      const agents = where === undefined ? slice : await keepMatchingAgents(reader, where, slice)
      yield { agents, last: slice.at(-1)?.id ?? null, count: slice.length }
    }
    place = last
    await nextTurn()
  }
}

/** Of all that the index of the selector, or of everything, has: counted in turns of the event loop. */
export async function countNames(
  reader: StoreReader,
  text: string,
  where?: Selector,
): Promise<number> {
  const source = await chooseSource(reader, where)
  let total = 0
  for (let place: string | null | undefined; place !== null;) {
    const search = { source, text, after: place, looked: SLICE_NAMES, isCounted: true }
    const { count, last }: NamesFound = await reader.searchNames(search)
    total += count
    place = last
    await nextTurn()
  }
  return total
}

/** For a walk that others come between: the agents that match among the next ones, and after which the walk goes on; null at its end. */
export async function readAgentSlice(
  reader: StoreReader,
  { where, after, sliceAgents: limit = SLICE_AGENTS }: AgentWalk,
): Promise<{ readonly agents: readonly Agent[]; readonly next: AgentId | null }> {
  const source = await chooseSource(reader, where)
  const slice = await reader.pageHosts(source, { after, limit })
  const agents = where === undefined ? slice : await keepMatchingAgents(reader, where, slice)
  return { agents, next: slice.length < limit ? null : (slice.at(-1)?.id ?? null) }
}

/** By one question for all of them. */
export async function keepMatchingAgents(
  reader: StoreReader,
  where: Selector,
  agents: readonly Agent[],
): Promise<readonly Agent[]> {
  const keys = labelKeysOf(where)
  const ids = agents.map(({ id }) => id)
  const labels = keys.length === 0 ? undefined : await reader.listLabels(ids, keys)
  return agents.filter(({ id, hostname, role }) =>
    matchesSelector(where, { hostname, role, labels: labels?.get(id) ?? NO_LABELS }),
  )
}

/** The one with the fewest agents, as far as they are counted; of those that are long the first. */
export async function chooseSource(
  reader: StoreReader,
  where: Selector | undefined,
): Promise<HostSource> {
  const sources = where === undefined ? [] : sourcesOf(where)
  if (sources.length < 2) return sources[0] ?? ALL
  let best: { readonly source: HostSource; readonly count: number } | undefined
  for (const source of sources) {
    const count = await reader.countHosts(source, COUNTED_MAX)
    if (best === undefined || count < best.count) best = { source, count }
  }
  return best?.source ?? ALL
}
