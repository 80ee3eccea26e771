// What the hub does itself goes into the same audit log, with no sender and the actor in the payload.

import { randomUUID } from 'node:crypto'
import type { CertificateRequest } from '../../pki/csr.ts'
import type { DeliveryId, EntryId } from '../../protocol/identifiers.ts'
import { HubEventType } from '../../protocol/words.ts'
import type { SignedCertificate } from '../ca/certificate-authority.ts'
import type { Agent } from '../domain/agent.ts'
import type { NewAuditEntry } from '../domain/audit-entry.ts'
import type { Delivery } from '../domain/delivery.ts'
import type { HostRules } from '../domain/host-rules.ts'
import type { CertificatePurpose } from '../domain/issued-certificate.ts'
import type { StoreWriter } from '../store/store.ts'
import { appendEntry } from './append-entries.ts'

type HubActPayload = { readonly actor: string } & Readonly<Record<string, unknown>>

export async function recordHubAct(
  writer: StoreWriter,
  at: Date,
  eventType: HubEventType,
  payload: HubActPayload,
  deliveryId: DeliveryId | null = null,
): Promise<void> {
  await appendEntry(writer, hubAct(at, eventType, payload, deliveryId))
}

export function hubAct(
  at: Date,
  eventType: HubEventType,
  payload: HubActPayload,
  deliveryId: DeliveryId | null = null,
): NewAuditEntry {
  return {
    id: randomUUID() as EntryId,
    agentId: null,
    eventType,
    payloadText: JSON.stringify(payload),
    deliveryId,
    requestId: null,
    at,
  }
}

interface ObtainedCertificate {
  readonly agent: Agent
  readonly signed: SignedCertificate
  readonly csr: CertificateRequest
  readonly purpose: CertificatePurpose
  readonly delivery: Pick<Delivery, 'id' | 'cargoId' | 'version'> | null
  /** How it was asked for. */
  readonly request: 'enrollment' | 'renewal' | 'recovery' | 'delivery'
  /** The rules that held. */
  readonly rules: HostRules
}

/** Every certificate that the hub obtained is remembered, with what it is good for. docs/protocol.md ISS-10, EVD-13. */
export async function recordCertificate(
  writer: StoreWriter,
  at: Date,
  certificate: ObtainedCertificate,
): Promise<void> {
  const { agent, csr, purpose, delivery, request, rules } = certificate
  const { leaf, rootSha256 } = certificate.signed
  const deliveryId = delivery?.id ?? null
  await writer.insertCertificate({
    sha256: leaf.sha256,
    serial: leaf.serial,
    agentId: agent.id,
    purpose,
    deliveryId,
    notBefore: leaf.notBefore,
    notAfter: leaf.notAfter,
    rootSha256: rootSha256 ?? null,
  })
  const payload = {
    actor: 'hub',
    agente_id: agent.id,
    hostname: agent.hostname,
    serial: leaf.serial,
    sha256: leaf.sha256,
    csr_sha256: csr.sha256,
    not_after: leaf.notAfter.toISOString(),
    purpose,
    request,
    politica: rules.policyName ?? null,
    ...nameNarrowing(rules.narrowing),
    ...(isShortened(rules) && { cert_ttl_by: rules.certTtlPolicy }),
    ...(delivery && { carga_id: delivery.cargoId, versao: delivery.version }),
  }
  await recordHubAct(writer, at, HubEventType.certificateIssued, payload, deliveryId)
}

/** The politicas with selectors that match the host, where there are any. docs/protocol.md POL-23. */
export function nameNarrowing(
  narrowing: HostRules['narrowing'],
): { readonly narrowed_by: readonly string[] } | undefined {
  return narrowing.length === 0 ? undefined : { narrowed_by: narrowing.map(({ name }) => name) }
}

/** By another politica than that of the role. */
function isShortened({ certTtlPolicy, policyName }: HostRules): boolean {
  return certTtlPolicy !== undefined && certTtlPolicy !== policyName
}
