// Agents as an operator reads them, however many, at the price of three questions to the store.

import { invariant } from '../../../platform/errors.ts'
import type { AdminAgent } from '../../../protocol/admin/views.ts'
import type { Agent } from '../../domain/agent.ts'
import type { AdminOperationsDependencies } from './admin-operations.ts'
import { toAdminAgent } from '../admin-views.ts'

type AgentViewDependencies = Pick<
  AdminOperationsDependencies,
  'store' | 'clock' | 'renewalThresholdMs' | 'polls'
>

const NOTHING_TO_REVOKE = { waiting: 0, refused: 0, reason: null }

export async function viewAgents(
  { store: { reader }, clock, renewalThresholdMs: thresholdMs, polls }: AgentViewDependencies,
  agents: readonly Agent[],
): Promise<AdminAgent[]> {
  const now = clock.now()
  const ids = agents.map(({ id }) => id)
  const late = new Set(await reader.listLateAgents(ids, { now, thresholdMs }))
  const identities = await reader.listCurrentIdentities(ids)
  const identityOf = new Map(identities.map((identity) => [identity.agentId, identity]))
  const caRevocations = await reader.summarizeCaRevocations(ids, now)
  return agents.map((agent) =>
    toAdminAgent(
      agent,
      identityOf.get(agent.id),
      polls?.lastPollAt(agent.id),
      late.has(agent.id),
      caRevocations.get(agent.id) ?? NOTHING_TO_REVOKE,
    ),
  )
}

export async function viewAgent(
  dependencies: AgentViewDependencies,
  agent: Agent,
): Promise<AdminAgent> {
  const [view] = await viewAgents(dependencies, [agent])
  invariant(view !== undefined, 'each agent has its view')
  return view
}
