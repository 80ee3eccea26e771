// In which state an agent is, as lists ask for it: by what the store says, and by what this hub hears of its hosts.

import { latestOf } from '../../../platform/instants.ts'
import type { AgentState } from '../../../protocol/admin/agentes.ts'
import type { AgentId } from '../../../protocol/identifiers.ts'
import type { Agent } from '../../domain/agent.ts'
import type { LateRule, StoreReader } from '../../store/store.ts'
import type { AgentViewContext } from './view-agents.ts'

/** So many are read at once and put in order. */
export const CANDIDATES_MAX = 2000
/** Agents may poll as rarely as once an hour. */
const SILENT_MS = 2 * 3_600_000

/** All agents that may be in the state; undefined where they are many, or nothing lists them. */
export async function findCandidates(
  reader: StoreReader,
  state: AgentState | undefined,
  { notifier }: Pick<AgentViewContext, 'notifier'>,
  rule: LateRule,
): Promise<readonly AgentId[] | undefined> {
  const few = (ids: readonly AgentId[] | undefined) =>
    ids !== undefined && ids.length <= CANDIDATES_MAX ? ids : undefined
  if (state === 'late') return few(await reader.listLateIds(rule, CANDIDATES_MAX + 1))
  if (state === 'expired') {
    return few(await reader.listLateIds(expiredBy(rule), CANDIDATES_MAX + 1))
  }
  if (state === 'revoked') return few(await reader.listRevokedIds(CANDIDATES_MAX + 1))
  if (state !== 'connected') return undefined
  return notifier === undefined ? [] : few(notifier.listOnline?.(CANDIDATES_MAX))
}

export async function keepInState(
  reader: StoreReader,
  state: AgentState | undefined,
  agents: readonly Agent[],
  context: AgentViewContext,
  rule: LateRule,
): Promise<ReadonlySet<AgentId>> {
  const ids = agents.map(({ id }) => id)
  const idsOf = (kept: readonly Agent[]) => new Set(kept.map(({ id }) => id))
  if (state === undefined) return new Set(ids)
  const present = agents.filter(({ revokedAt }) => revokedAt === null)
  if (state === 'revoked') return idsOf(agents.filter(({ revokedAt }) => revokedAt !== null))
  if (state === 'late') return new Set((await reader.listLateAgents(ids, rule)).keys())
  if (state === 'expired')
    return new Set((await reader.listLateAgents(ids, expiredBy(rule))).keys())
  if (state === 'connected') {
    return idsOf(present.filter(({ id }) => context.notifier?.isOnline(id) === true))
  }
  const silent = await findSilent(reader, present, context, rule.now)
  if (state === 'silent') return silent
  const late = await reader.listLateAgents(ids, rule)
  return idsOf(present.filter(({ id }) => !silent.has(id) && !late.has(id)))
}

/** What is late without any time to renew it in has ended. */
function expiredBy({ now }: LateRule): LateRule {
  return { now, thresholdMs: 0 }
}

async function findSilent(
  reader: StoreReader,
  agents: readonly Agent[],
  { notifier, polls, sightings }: AgentViewContext,
  now: Date,
): Promise<ReadonlySet<AgentId>> {
  const away = agents.filter(({ id }) => notifier?.isOnline(id) !== true)
  const lastPolls = await reader.listLastPolls(away.map(({ id }) => id))
  const silent = away.filter(({ id, createdAt, lastSeenAt }) => {
    const polled = polls?.lastPollAt(id) ?? lastPolls.get(id) ?? null
    const heard = latestOf([createdAt, lastSeenAt, polled, sightings?.find(id)?.lastSeenAt ?? null])
    return heard !== undefined && now.getTime() - heard.getTime() > SILENT_MS
  })
  return new Set(silent.map(({ id }) => id))
}
