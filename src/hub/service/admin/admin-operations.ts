// The admin operations over the store, one function each, in the shapes of protocol/admin/operations.ts.

import type { Clock } from '../../../platform/clock.ts'
import {
  ENTRY_PAGE_MAX,
  type AdminOperations,
  type AdminReplies,
  type AdminRequest,
} from '../../../protocol/admin/operations.ts'
import type { AdminRole } from '../../../protocol/admin/roles.ts'
import type { AgentId } from '../../../protocol/identifiers.ts'
import { fingerprintOf } from '../../../sealing/age-identity.ts'
import type { Actor } from '../../domain/actor.ts'
import type { Policy } from '../../domain/policy.ts'
import type { EntryFilter, Page, Store, StoreReader } from '../../store/store.ts'
import { createAccessToken, revokeAccessToken, toAdminAccessToken } from './access-tokens.ts'
import {
  toAdminCaRevocation,
  toAdminCargo,
  toAdminDelivery,
  toAdminEntry,
  toAdminPolicy,
  toAdminToken,
} from '../admin-views.ts'
import type { AgentNotifier } from '../agent-notifier.ts'
import { announceChanges } from './announce-changes.ts'
import { removeCargo, updateCargo } from '../cargo/change-cargo.ts'
import { type AdminRoots, showBundle, updateBundle } from '../roots/bundle-operations.ts'
import { cancelDeliveryById } from '../cargo/change-delivery.ts'
import { removePolicy, setPolicy, showPolicy } from '../policy/change-policy.ts'
import { createCargo } from '../cargo/create-cargo.ts'
import { createToken } from './create-token.ts'
import { findAgent } from '../find-agent.ts'
import { createFleetChanges, type FleetChanges } from '../cargo/fleet-changes.ts'
import { listRecipients, readContent } from '../cargo/list-recipients.ts'
import { parseTime } from '../parse-time.ts'
import { pushToAgent } from '../cargo/push-to-agent.ts'
import { pageOf, readPage } from '../read-page.ts'
import type { PollRecorder } from '../agent/record-polls.ts'
import { removeAgent } from './remove-agent.ts'
import { retryDeliveries } from '../cargo/retry-deliveries.ts'
import { revokeAgent } from './revoke-agent.ts'
import { revokeToken } from './revoke-token.ts'
import { showStatus } from './show-status.ts'
import { viewAgent, viewAgents } from './view-agents.ts'
import type { WebhookControl } from '../webhooks/webhook-control.ts'
import { createWebhookOperations } from '../webhooks/webhook-operations.ts'

export interface AdminOperationsDependencies {
  readonly store: Store
  readonly clock: Clock
  /** Where agents reach this hub, for the command that `token create` prints. */
  readonly addresses: { readonly enrollUrl: string; readonly mtlsUrl: string }
  /** The hub’s own names, which no agent may have. */
  readonly hubNames: readonly string[]
  /** The most that a sealed file may hold. */
  readonly contentBytesMax: number
  /** That of the agents, which says when one is late. */
  readonly renewalThresholdMs: number
  readonly polls?: PollRecorder
  /** Of a running hub. */
  readonly roots?: AdminRoots
  readonly onAgentRevoked?: (agentId: AgentId) => void
  /** Of a running hub, whose callers all wait for the same turns. */
  readonly changes?: FleetChanges
  /** The agents' streams; without a hub there are none. */
  readonly notifier?: AgentNotifier
  /** Undefined without a running hub. */
  readonly webhooks?: WebhookControl
}

/** Those of one actor, in whose name they are recorded; some depend on its role, too. */
export function createAdminOperations(
  dependencies: AdminOperationsDependencies,
  actor: Actor,
  role: AdminRole,
): AdminOperations {
  const { store, clock, contentBytesMax, notifier } = dependencies
  const changes = dependencies.changes ?? createFleetChanges(store, notifier)
  const cargoDependencies = { ...dependencies, changes }
  const { reader } = store
  const operations: AdminOperations = {
    createToken: (request) => createToken(dependencies, request, actor, role),
    listTokens: async (request) => {
      const { rows, next } = await readPage(request, reader.pageTokens.bind(reader), toAdminToken)
      return { tokens: rows, next }
    },
    revokeToken: (request) => revokeToken(store, clock, request, actor),
    listAgents: async (request) => {
      const read = async (page: Page) => {
        const agents = await reader.pageAgents(page)
        return agents && viewAgents(dependencies, agents)
      }
      const { rows, next } = await readPage(request, read, (agent) => agent)
      return { agentes: rows, next }
    },
    showAgent: async ({ agente }) => {
      const agent = await findAgent(reader, agente)
      const deliveries = await reader.listDeliveries({ agentId: agent.id })
      const recipient = await reader.findRecipient(agent.id)
      return {
        ...(await viewAgent(dependencies, agent)),
        recipient_fingerprint: recipient === undefined ? null : fingerprintOf(recipient),
        entregas: deliveries.map(toAdminDelivery),
      }
    },
    revokeAgent: ({ agente }) => revokeAgent(dependencies, agente, actor),
    removeAgent: async ({ agente }) =>
      viewAgent(dependencies, await removeAgent(dependencies, agente, actor)),
    listCaRevocations: async (request) => {
      const read = (page: Page) =>
        reader.listCaRevocations({ ...page, now: clock.now(), isRefusedIncluded: true })
      const { rows, next } = await readPage(request, read, toAdminCaRevocation)
      return { revocations: rows, next }
    },
    createCargo: (request) => createCargo(cargoDependencies, request, actor, role),
    listCargoes: async (request) => {
      const { rows, next } = await readPage(request, reader.pageCargoes.bind(reader), toAdminCargo)
      return { cargas: rows, next }
    },
    updateCargo: (request) => updateCargo(cargoDependencies, request, actor, role),
    removeCargo: (request) => removeCargo(cargoDependencies, request, actor),
    listRecipients: (request) => listRecipients(reader, contentBytesMax, request),
    readContent: (request) => readContent(reader, request),
    cancelDelivery: (request) => cancelDeliveryById(store, clock, request, actor),
    retryDeliveries: (request) => retryDeliveries(cargoDependencies, request, actor),
    listDeliveries: async (request) => {
      const read = reader.pageDeliveries.bind(reader)
      const { rows, next } = await readPage(request, read, toAdminDelivery)
      return { entregas: rows, next }
    },
    setPolicy: (request) => setPolicy(dependencies, request, actor),
    listPolicies: async (request) => {
      const view = (policy: Policy) => ({ id: policy.role, politica: toAdminPolicy(policy) })
      const { rows, next } = await readPage(request, reader.pagePolicies.bind(reader), view)
      return { politicas: rows.map(({ politica }) => politica), next }
    },
    showPolicy: (request) => showPolicy(reader, request),
    removePolicy: (request) => removePolicy(store, clock, request, actor),
    showBundle: () => showBundle(dependencies),
    updateBundle: (request) => updateBundle(dependencies, request, actor),
    listEntries: (request) => listEntries(reader, request),
    pushToAgent: (request) => pushToAgent({ store, clock, notifier }, request, actor),
    ...createWebhookOperations(dependencies, actor),
    showStatus: () => showStatus(reader, clock, dependencies.renewalThresholdMs, changes.underWay),

    createAccessToken: (request) => createAccessToken(store, clock, request, actor),
    listAccessTokens: async (request) => {
      const { rows, next } = await readPage(
        request,
        async (page) => pageOf((await reader.listAccessTokens()).map(toAdminAccessToken), page),
        (token) => token,
      )
      return { admin_tokens: rows, next }
    },
    revokeAccessToken: (request) => revokeAccessToken(store, clock, request, actor),
  }
  return notifier === undefined ? operations : announceChanges(operations, notifier)
}

async function listEntries(
  reader: StoreReader,
  request: AdminRequest<'listEntries'>,
): Promise<AdminReplies['listEntries']> {
  const filter: Omit<EntryFilter, 'afterSeq' | 'limit'> = {
    ...(request.tipo === undefined ? {} : { eventType: request.tipo }),
    ...(request.agente === undefined
      ? {}
      : { agentId: (await findAgent(reader, request.agente)).id }),
    ...(request.since === undefined ? {} : { since: parseTime(request.since) }),
  }
  const entries =
    request.last === undefined
      ? await reader.listEntries({
          ...filter,
          afterSeq: request.after ?? 0,
          limit: request.limit ?? ENTRY_PAGE_MAX,
        })
      : await reader.listLastEntries(filter, request.last)
  const limit = request.last ?? request.limit ?? ENTRY_PAGE_MAX
  const next = entries.length < limit ? undefined : entries.at(-1)?.seq
  return { eventos: entries.map(toAdminEntry), next: next ?? null }
}
