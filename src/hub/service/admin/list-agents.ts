// The hosts that match, in an order that an index has. Where no index has what is asked for, hosts are looked at one after
// the other, a bounded number for one page: a page may be short, and `next` says where the next one goes on.

import { setImmediate as nextTurn } from 'node:timers/promises'
import { LIST_PAGE_MAX } from '../../../protocol/admin/bounds.ts'
import type { AdminRequest } from '../../../protocol/admin/operations.ts'
import type { AgentId } from '../../../protocol/identifiers.ts'
import type { AdminAgent } from '../../../protocol/admin/views.ts'
import { bothOf, type Selector } from '../../../protocol/selector.ts'
import type { Agent } from '../../domain/agent.ts'
import { exactSourceOf } from '../../domain/host-source.ts'
import type { LateRule, StoreReader } from '../../store/store.ts'
import { AdminRefusal, type Read } from '../admin-act.ts'
import { agentSlices, countNames, keepMatchingAgents } from '../agent-slices.ts'
import { parseWhere } from '../parse-where.ts'
import { CANDIDATES_MAX, findCandidates, keepInState } from './agent-states.ts'
import { type AgentViewContext, viewAgents } from './view-agents.ts'
import {
  type AgentSort,
  type HostWalk,
  placeAll,
  walkByEnd,
  walkByEnrolment,
  walkByName,
  walkCandidates,
} from './walk-agents.ts'

type Request = AdminRequest<'listAgents'>

/** Some 50 ms of the dearest way. */
const LOOKED_MAX = 5000
const COUNTED_MAX = 10_000
const NAMES_COUNTED_MAX = 200_000
/** In one turn of the event loop. */
const STEP_VIEWS = 20

interface Choice {
  readonly where: Selector | undefined
  readonly text: string | undefined
  readonly estado: Request['estado']
}

interface Order {
  readonly sort: AgentSort
  readonly after: string | undefined
  readonly limit: number
}

/** docs/protocol.md API-123. */
export const listAgents: Read<'listAgents', AgentViewContext> = async (
  reader,
  request,
  context,
) => {
  const { limit = LIST_PAGE_MAX, after, estado, sort = 'hostname' } = request
  if (sort === 'end' && estado === 'revoked') {
    throw new AdminRefusal(
      'sort_unsupported',
      'sort end: a revoked agent has no certificate in use: leave sort out',
    )
  }
  const rule = { now: context.clock.now(), thresholdMs: context.renewalThresholdMs }
  const where = bothOf(context.only, selectorOf(request))
  const choice: Choice = { where, text: request.q?.toLowerCase(), estado }
  const candidates = await findAllCandidates(reader, choice, sort, context, rule)
  const placed = candidates && (await placeAll(reader, candidates, sort))
  const walk =
    placed === undefined
      ? chooseWalk(reader, choice, { sort, after, limit }, rule)
      : walkCandidates(reader, placed, sort, after)
  // Where a caller is bounded to some hosts, the place of another one is not for it.
  const lookedMax = context.only === undefined ? LOOKED_MAX : Infinity
  const { found, next } = await readPage(walk, { limit, lookedMax }, (agents) =>
    keepInState(reader, estado, agents, context, rule),
  )
  const isWhole = after === undefined && next === null
  return {
    agentes: await viewInTurns(context, found),
    next,
    total: placed?.length ?? (await countAll(reader, choice, sort, isWhole ? found.length : null)),
  }
}

function selectorOf({ role, where }: Request): Selector | undefined {
  const ofRole = { terms: [{ key: 'role', values: [role ?? ''], isNegated: false }] }
  return bothOf(
    role === undefined ? undefined : ofRole,
    where === undefined ? undefined : parseWhere(where),
  )
}

/** All that match, where they are few: of a state, or where the order is not the one by which they are found. */
async function findAllCandidates(
  reader: StoreReader,
  choice: Choice,
  sort: AgentSort,
  context: AgentViewContext,
  rule: LateRule,
): Promise<readonly Agent[] | undefined> {
  const { where, text, estado } = choice
  const ids = await findCandidates(reader, estado, context, rule)
  if (ids === undefined && sort === 'hostname') return undefined
  const matching =
    ids === undefined
      ? await readFew(reader, choice)
      : await keepFound(reader, await reader.findAgents(ids), where, text)
  const kept = matching && (await keepInState(reader, estado, matching, context, rule))
  return matching?.filter(({ id }) => kept?.has(id))
}

async function keepFound(
  reader: StoreReader,
  agents: readonly Agent[],
  where: Selector | undefined,
  text = '',
): Promise<readonly Agent[]> {
  const present = agents.filter(
    ({ hostname, removedAt }) => removedAt === null && hostname.includes(text),
  )
  return where === undefined ? present : keepMatchingAgents(reader, where, present)
}

/** Undefined where they are many, or no index has them. */
async function readFew(
  reader: StoreReader,
  { where, text }: Choice,
): Promise<readonly Agent[] | undefined> {
  if (text === undefined) {
    const source = where === undefined ? undefined : exactSourceOf(where)
    if (source === undefined) return undefined
    // Before any of them is read.
    if ((await reader.countHosts(source, CANDIDATES_MAX + 1)) > CANDIDATES_MAX) return undefined
  }
  const found: Agent[] = []
  for await (const agents of agentSlices(reader, { where, text })) {
    found.push(...agents)
    if (found.length > CANDIDATES_MAX) return undefined
  }
  return found
}

function chooseWalk(
  reader: StoreReader,
  { where, text, estado }: Choice,
  { sort, after, limit }: Order,
  { now, thresholdMs }: LateRule,
): HostWalk {
  if (sort === 'end') {
    const isEndNear = estado === 'late' || estado === 'expired'
    const until = isEndNear ? new Date(now.getTime() + thresholdMs / 2) : undefined
    return walkByEnd(reader, { where, text, after, until })
  }
  if (sort === 'enrolled') return walkByEnrolment(reader, { where, text, after })
  // Where each host matches, one more than the page has says whether another one follows.
  const isAny = text === undefined && estado === undefined && (!where || exactSourceOf(where))
  return walkByName(reader, { where, text, after, stepAgents: isAny ? limit + 1 : undefined })
}

/** `keep` says which of the agents that the walk comes to are wanted. */
async function readPage(
  walk: HostWalk,
  { limit, lookedMax }: { readonly limit: number; readonly lookedMax: number },
  keep: (agents: readonly Agent[]) => Promise<ReadonlySet<AgentId>>,
): Promise<{ readonly found: Agent[]; readonly next: string | null }> {
  const found: Agent[] = []
  let place: string | null = null
  let looked = 0
  for await (const { hosts, last, count } of walk) {
    const kept = await keep(hosts.map(({ agent }) => agent))
    for (const host of hosts) {
      if (!kept.has(host.agent.id)) continue
      if (found.length === limit) return { found, next: place }
      found.push(host.agent)
      ;({ place } = host)
    }
    looked += count
    if (looked >= lookedMax && last !== null) return { found, next: last }
  }
  return { found, next: null }
}

async function viewInTurns(
  context: AgentViewContext,
  agents: readonly Agent[],
): Promise<AdminAgent[]> {
  const views: AdminAgent[] = []
  for (let start = 0; start < agents.length; start += STEP_VIEWS) {
    views.push(...(await viewAgents(context, agents.slice(start, start + STEP_VIEWS))))
    await nextTurn()
  }
  return views
}

async function countAll(
  reader: StoreReader,
  { where, text, estado }: Choice,
  sort: AgentSort,
  found: number | null,
): Promise<number | null> {
  // Nobody has counted which of the agents have a certificate in use.
  if (sort === 'end') return null
  const { live, revoked } = await reader.countAgents()
  if (where === undefined && text === undefined) {
    if (estado === undefined) return live + revoked
    return estado === 'revoked' ? revoked : null
  }
  if (estado !== undefined) return null
  const source = where === undefined ? undefined : exactSourceOf(where)
  if (where !== undefined && source === undefined) return null
  if (text !== undefined) {
    if (source?.by === 'label' || live + revoked > NAMES_COUNTED_MAX) return null
    // All names were looked at already where the page is the whole list.
    return found ?? countNames(reader, text, where)
  }
  if (source === undefined) return null
  const count = await reader.countHosts(source, COUNTED_MAX + 1)
  return count > COUNTED_MAX ? null : count
}
