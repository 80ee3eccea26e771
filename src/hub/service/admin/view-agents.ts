// Agents as an operator reads them, however many, at the price of a few questions to the store.

import { invariant } from '../../../platform/errors.ts'
import type { AdminAgent } from '../../../protocol/admin/views.ts'
import type { Labels } from '../../../protocol/labels.ts'
import type { Agent } from '../../domain/agent.ts'
import type { Page } from '../../store/store.ts'
import type { Read } from '../admin-act.ts'
import { toAdminAgent, toAdminCaRevocation } from '../admin-views.ts'
import { readPage } from '../read-page.ts'
import type { AdminContext } from './admin-context.ts'

export type AgentViewContext = Pick<
  AdminContext,
  'store' | 'clock' | 'renewalThresholdMs' | 'polls' | 'waiting' | 'sightings' | 'notifier'
>

export const listCaRevocations: Read<'listCaRevocations', Pick<AdminContext, 'clock'>> = async (
  reader,
  request,
  { clock },
) => {
  const read = (page: Page) =>
    reader.listCaRevocations({ ...page, now: clock.now(), isRefusedIncluded: true })
  const { rows, next } = await readPage(request, read, toAdminCaRevocation)
  return { revocations: rows, next }
}

const NO_LABELS: Labels = new Map()
const NOTHING_TO_REVOKE = { waiting: 0, refused: 0, reason: null }

export async function viewAgents(
  context: AgentViewContext,
  agents: readonly Agent[],
): Promise<AdminAgent[]> {
  const { clock, renewalThresholdMs: thresholdMs, polls, sightings, notifier } = context
  const { reader } = context.store
  const now = clock.now()
  const ids = agents.map(({ id }) => id)
  const late = await reader.listLateAgents(ids, { now, thresholdMs })
  const identities = await reader.listCurrentIdentities(ids)
  const identityOf = new Map(identities.map((identity) => [identity.agentId, identity]))
  const lastPolls = await reader.listLastPolls(ids)
  const labels = await reader.listLabels(ids)
  const caRevocations = await reader.summarizeCaRevocations(ids, now)
  const seen = new Map((await reader.listSightings(ids)).map((one) => [one.agentId, one]))
  return agents.map((agent) => {
    const { id } = agent
    return toAdminAgent(agent, {
      identity: identityOf.get(id),
      lastPollAt: polls?.lastPollAt(id) ?? lastPolls.get(id),
      lateSince: late.get(id),
      labels: labels.get(id) ?? NO_LABELS,
      caRevocations: caRevocations.get(id) ?? NOTHING_TO_REVOKE,
      sighting: seen.get(id),
      live: sightings?.find(id),
      doubled: sightings?.findDoubled(id),
      onlineSince: notifier?.onlineSince?.(id),
    })
  })
}

export async function viewAgent(context: AgentViewContext, agent: Agent): Promise<AdminAgent> {
  const [view] = await viewAgents(context, [agent])
  invariant(view !== undefined, 'each agent has its view')
  return view
}
