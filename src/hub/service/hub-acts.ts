// What the hub does itself goes into the same audit log, with no sender and the actor in the payload.

import { randomUUID } from 'node:crypto'
import type { CertificateRequest } from '../../pki/csr.ts'
import type { DeliveryId, EntryId } from '../../protocol/identifiers.ts'
import { HubEventType } from '../../protocol/words.ts'
import type { SignedCertificate } from '../ca/certificate-authority.ts'
import type { Agent } from '../domain/agent.ts'
import type { NewAuditEntry } from '../domain/audit-entry.ts'
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
  readonly deliveryId: DeliveryId | null
}

/** Every certificate that the hub obtained is remembered, with what it is good for. */
export async function recordCertificate(
  writer: StoreWriter,
  at: Date,
  { agent, signed: { leaf, rootSha256 }, csr, purpose, deliveryId }: ObtainedCertificate,
): Promise<void> {
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
  }
  await recordHubAct(writer, at, HubEventType.certificateIssued, payload, deliveryId)
}
