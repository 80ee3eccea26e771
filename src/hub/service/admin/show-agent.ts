// One host with all that an operator asks first: what it has, what it lives on, whom it trusts, and what it was refused.

import { parseCertificatesPem } from '../../../pki/certificates.ts'
import { LIST_PAGE_MAX } from '../../../protocol/admin/bounds.ts'
import type { AdminReplies } from '../../../protocol/admin/operations.ts'
import type { AgentId } from '../../../protocol/identifiers.ts'
import { fingerprintOf } from '../../../sealing/age-identity.ts'
import { hasAdopted } from '../../domain/decide-root-set.ts'
import type { HostRules } from '../../domain/host-rules.ts'
import type { DeliveryWithCargo, StoreReader } from '../../store/store.ts'
import type { Read } from '../admin-act.ts'
import type { AgentRefusal } from '../agent-refusals.ts'
import { findAgent } from '../find-agent.ts'
import { findRules } from '../find-rules.ts'
import type { AdminContext } from './admin-context.ts'
import { toAdminCertificate } from './list-certificates.ts'
import { type AgentViewContext, viewAgent } from './view-agents.ts'
import { viewDeliveries } from './view-deliveries.ts'

type Shown = AdminReplies['showAgent']

/** docs/protocol.md API-120. */
export const showAgent: Read<
  'showAgent',
  AgentViewContext & Pick<AdminContext, 'refusals'>
> = async (reader, { agente, details }, context) => {
  const agent = await findAgent(reader, agente, context.only)
  const { id: agentId } = agent
  const deliveries = await reader.listDeliveries({ agentId })
  const recipient = await reader.findRecipient(agentId)
  return {
    ...(await viewAgent(context, agent)),
    recipient_fingerprint: recipient === undefined ? null : fingerprintOf(recipient),
    politicas: namePolicies(await findRules(reader, agent)),
    entregas: await viewDeliveries(reader, deliveries, context.waiting),
    ...(details === true && (await readDetails(reader, agentId, { context, deliveries }))),
  }
}

async function readDetails(
  reader: StoreReader,
  agentId: AgentId,
  {
    context,
    deliveries,
  }: {
    readonly context: AgentViewContext & Pick<AdminContext, 'refusals'>
    readonly deliveries: readonly DeliveryWithCargo[]
  },
): Promise<Pick<Shown, 'certificados' | 'roots' | 'refusals'>> {
  const rule = { now: context.clock.now(), thresholdMs: context.renewalThresholdMs }
  const inUse = await reader.pageCertificatesInUse({ ...rule, agentId, limit: LIST_PAGE_MAX })
  return {
    certificados: (inUse ?? []).map((certificate) => toAdminCertificate(certificate, rule)),
    roots: await describeRoots(reader, agentId),
    refusals:
      context.refusals?.list(agentId).map((refusal) => toRefusal(refusal, deliveries)) ?? null,
  }
}

function namePolicies({ policyName, narrowing }: HostRules): string[] {
  return [...(policyName === undefined ? [] : [policyName]), ...narrowing.map(({ name }) => name)]
}

async function describeRoots(
  reader: StoreReader,
  agentId: AgentId,
): Promise<NonNullable<Shown['roots']> | null> {
  const [trust] = await reader.listAgentTrust([agentId])
  if (trust === undefined) return null
  const set = await reader.findRootSet()
  const isCurrent =
    set !== undefined &&
    trust.number === set.number &&
    hasAdopted(trust, parseCertificatesPem(set.pem))
  return {
    numero: trust.number,
    epoca: isCurrent ? set.epoch : null,
    since: trust.reportedAt.toISOString(),
    is_current: isCurrent,
    is_pinned: trust.pinned !== null,
    erro: trust.error,
  }
}

/** Of an entrega that is not the agent's nothing is said but what the agent called it. */
function toRefusal(
  { code, reason, operation, deliveryId, requestId, at, since, times }: AgentRefusal,
  deliveries: readonly DeliveryWithCargo[],
): NonNullable<Shown['refusals']>[number] {
  return {
    code,
    reason,
    operation,
    entrega_id: deliveryId,
    nome: deliveries.find(({ id }) => id === deliveryId)?.cargo.name ?? null,
    request_id: requestId,
    at: at.toISOString(),
    since: since.toISOString(),
    times,
  }
}
