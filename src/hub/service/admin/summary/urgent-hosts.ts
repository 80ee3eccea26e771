// The hosts that are late or have lost a certificate, by name, each once, with what the hub knows of why.

import { invariant } from '../../../../platform/errors.ts'
import {
  type AdminUrgentHost,
  SUMMARY_HOSTS_MAX,
} from '../../../../protocol/admin/fleet-summary.ts'
import type { AgentId } from '../../../../protocol/identifiers.ts'
import type { CertificateInUse } from '../../../domain/fleet.ts'
import { lateFrom } from '../../../domain/late-renewal.ts'
import type { LateRule, StoreReader } from '../../../store/store.ts'
import type { WaitingReason } from '../../waiting-reasons.ts'
import type { AdminContext } from '../admin-context.ts'

export type UrgencyContext = Pick<AdminContext, 'polls' | 'sightings' | 'notifier' | 'waiting'>

/** A host may have several certificates. */
const CERTIFICATES_MAX = 5 * SUMMARY_HOSTS_MAX
/** Entregas of one host that wait for a certificate. */
const WAITING_MAX = 20

export interface UrgentHosts {
  readonly late: AdminUrgentHost[]
  readonly expired: AdminUrgentHost[]
}

export async function listUrgentHosts(
  reader: StoreReader,
  rule: LateRule,
  context: UrgencyContext,
): Promise<UrgentHosts> {
  const { now } = rule
  const expired = firstOfEach(await reader.summary.listExpired(now, CERTIFICATES_MAX))
  const late = firstOfEach(await reader.summary.listLateInTime(rule, CERTIFICATES_MAX))
  const view = await prepareViews(reader, rule, context, [...expired, ...late])
  return { late: late.map(view), expired: expired.map(view) }
}

function firstOfEach(certificates: readonly CertificateInUse[]): CertificateInUse[] {
  const first = new Map<AgentId, CertificateInUse>()
  for (const one of certificates) if (!first.has(one.agentId)) first.set(one.agentId, one)
  return [...first.values()].slice(0, SUMMARY_HOSTS_MAX)
}

async function prepareViews(
  reader: StoreReader,
  { thresholdMs }: LateRule,
  context: UrgencyContext,
  certificates: readonly CertificateInUse[],
): Promise<(certificate: CertificateInUse) => AdminUrgentHost> {
  const { polls, sightings, notifier } = context
  const ids = certificates.map(({ agentId }) => agentId)
  const agents = new Map((await reader.findAgents(ids)).map((agent) => [agent.id, agent]))
  const lastPolls = await reader.listLastPolls(ids)
  const reasons = new Map<AgentId, WaitingReason>()
  for (const certificate of certificates) {
    const reason = await findReason(reader, certificate, context)
    if (reason !== undefined) reasons.set(certificate.agentId, reason)
  }
  return (certificate) => {
    const { agentId: id, hostname, purpose, name, notAfter } = certificate
    const agent = agents.get(id)
    invariant(agent !== undefined, 'a certificate in use has its agent')
    const contacts = [
      agent.lastSeenAt,
      polls?.lastPollAt(id) ?? lastPolls.get(id) ?? null,
      sightings?.find(id)?.lastSeenAt ?? null,
    ].flatMap((at) => at?.getTime() ?? [])
    const reason = reasons.get(id)
    return {
      agente_id: id,
      hostname,
      purpose,
      nome: name,
      not_after: notAfter.toISOString(),
      atrasado_since: lateFrom(certificate, thresholdMs).toISOString(),
      last_contact_at: contacts.length === 0 ? null : new Date(Math.max(...contacts)).toISOString(),
      connected: notifier?.isOnline(id) ?? null,
      waiting_reason: reason?.text ?? null,
      waiting_reason_at: reason?.at.toISOString() ?? null,
    }
  }
}

/** The newest one of the certificate's own entrega, and of those that are to bring the host another. */
async function findReason(
  reader: StoreReader,
  { agentId, deliveryId }: CertificateInUse,
  { waiting }: UrgencyContext,
): Promise<WaitingReason | undefined> {
  if (waiting === undefined) return undefined
  const open = await reader.listDeliveries({ agentId, statuses: ['pendente', 'em_andamento'] })
  const ids = [deliveryId ?? [], open.slice(0, WAITING_MAX).map(({ id }) => id)].flat()
  const reasons = ids.flatMap((id) => waiting.find(id) ?? [])
  return reasons.toSorted((one, other) => other.at.getTime() - one.at.getTime())[0]
}
