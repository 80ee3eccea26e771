// From the hub's own types to what an operator reads.

import { latestOf } from '../../platform/instants.ts'
import type {
  AdminAgent,
  AdminCaRevocation,
  AdminCargo,
  AdminDelivery,
  AdminEntry,
  AdminPolicy,
  AdminSelectorPolicy,
  AdminToken,
} from '../../protocol/admin/views.ts'
import { type Labels, listLabels } from '../../protocol/labels.ts'
import { formatSelector } from '../../protocol/selector.ts'
import type { Agent } from '../domain/agent.ts'
import {
  type AgentSighting,
  type DoubledIdentity,
  type LiveSighting,
  mergeAddresses,
} from '../domain/agent-sighting.ts'
import type { AuditEntry } from '../domain/audit-entry.ts'
import type { CaRevocation, CaRevocationSummary } from '../domain/ca-revocation.ts'
import type { Cargo } from '../domain/cargo.ts'
import type { EnrollmentToken } from '../domain/enrollment-token.ts'
import type { IssuedCertificate } from '../domain/issued-certificate.ts'
import type { Policy, PolicyBounds, SelectorPolicy } from '../domain/policy.ts'
import { isLive, isOnHost } from '../domain/delivery.ts'
import type { RevertedTarget } from '../domain/reverted-target.ts'
import type { DeliveryWithCargo } from '../store/store.ts'
import type { WaitingReason } from './waiting-reasons.ts'

/** Enough of a token's hash to name it; nothing that opens a door. */
const TOKEN_ID_LENGTH = 16

export function toAdminToken(token: EnrollmentToken): AdminToken {
  return {
    id: token.hash.slice(0, TOKEN_ID_LENGTH),
    hostname: token.expectedHostname,
    role: token.expectedRole,
    expires_at: token.expiresAt.toISOString(),
    consumed_at: timeOrNull(token.consumedAt),
    created_at: token.createdAt.toISOString(),
    labels: listLabels(token.labels),
    mismatches: token.mismatches,
  }
}

/** What is known of an agent beside its own row. */
export interface AgentFacts {
  readonly labels: Labels
  readonly identity: IssuedCertificate | undefined
  readonly lastPollAt: Date | undefined
  /** Undefined when it is not late. */
  readonly lateSince: Date | undefined
  readonly caRevocations: CaRevocationSummary
  /** As it was written down. */
  readonly sighting: AgentSighting | undefined
  /** Of a running hub. */
  readonly live: LiveSighting | undefined
  readonly doubled: DoubledIdentity | undefined
  readonly onlineSince: Date | undefined
}

export function toAdminAgent(agent: Agent, facts: AgentFacts): AdminAgent {
  const { identity, lastPollAt = null, lateSince, caRevocations, sighting, live, doubled } = facts
  const contacts = [agent.lastSeenAt, lastPollAt, live?.lastSeenAt ?? null]
  return {
    id: agent.id,
    hostname: agent.hostname,
    role: agent.role,
    last_seen_at: timeOrNull(agent.lastSeenAt),
    last_poll_at: timeOrNull(lastPollAt),
    revoked_at: timeOrNull(agent.revokedAt),
    created_at: agent.createdAt.toISOString(),
    cert_serial: identity?.serial ?? null,
    cert_not_after: timeOrNull(identity?.notAfter ?? null),
    atrasado: lateSince !== undefined,
    atrasado_since: timeOrNull(lateSince ?? null),
    duplicado:
      doubled === undefined
        ? null
        : {
            since: doubled.since.toISOString(),
            last_at: doubled.lastAt.toISOString(),
            addresses: [...doubled.addresses],
          },
    agent_version: (live ?? sighting)?.version ?? null,
    platform: (live ?? sighting)?.platform ?? null,
    addresses: mergeAddresses(live?.addresses ?? [], sighting?.addresses ?? []),
    first_seen_at: agent.createdAt.toISOString(),
    last_contact_at: timeOrNull(latestOf(contacts) ?? null),
    online_since: timeOrNull(facts.onlineSince ?? null),
    ca_revocations_waiting: caRevocations.waiting,
    ca_revocations_refused: caRevocations.refused,
    ca_revocation_reason: caRevocations.reason,
    labels: listLabels(facts.labels),
  }
}

export function toAdminCaRevocation(revocation: CaRevocation): AdminCaRevocation {
  return {
    id: revocation.sha256,
    agente_id: revocation.agentId,
    hostname: revocation.hostname,
    serial: revocation.serial,
    purpose: revocation.purpose,
    state: revocation.refusedAt === null ? 'waiting' : 'refused',
    revoked_at: revocation.revokedAt.toISOString(),
    not_after: revocation.notAfter.toISOString(),
    reason: revocation.reason,
  }
}

export function toAdminCargo(cargo: Cargo): AdminCargo {
  return {
    id: cargo.id,
    tipo: cargo.kind,
    nome: cargo.name,
    versao: cargo.version,
    sans: [...cargo.sans],
    where: cargo.where,
    created_at: cargo.createdAt.toISOString(),
  }
}

export function toAdminPolicy(policy: Policy): AdminPolicy {
  return { role: policy.role, ...toAdminBounds(policy), reenroll: policy.mayOperatorsReenroll }
}

export function toAdminSelectorPolicy(policy: SelectorPolicy): AdminSelectorPolicy {
  const { selector, mayOperatorsReenroll: reenroll } = policy
  return { where: formatSelector(selector), ...toAdminBounds(policy), reenroll }
}

function toAdminBounds(policy: PolicyBounds) {
  return {
    nome: policy.name,
    token_ttl_max: policy.tokenTtlSecondsMax,
    cert_ttl: policy.certTtlSeconds,
    sans_permitidos: [...policy.permittedSans],
    sans_nomeados: policy.areSansNamed,
    cargas_automaticas: [...policy.automaticCargoes],
  }
}

/**
 * `reverted` are its targets that are taken back, the newest last; `why` is what the hub last answered when the agent asked for
 * its certificate in vain.
 */
export function toAdminDelivery(
  delivery: DeliveryWithCargo,
  reverted: readonly RevertedTarget[] = [],
  why?: WaitingReason,
): AdminDelivery {
  const shown = isOnHost(delivery) ? reverted : []
  const waiting = isLive(delivery) ? why : undefined
  return {
    id: delivery.id,
    carga_id: delivery.cargoId,
    agente_id: delivery.agentId,
    hostname: delivery.hostname,
    tipo: delivery.cargo.kind,
    nome: delivery.cargo.name,
    versao: delivery.version,
    status: delivery.status,
    updated_at: delivery.updatedAt.toISOString(),
    erro: shown.at(-1)?.error ?? delivery.error,
    reverted_at: timeOrNull(shown[0]?.since ?? null),
    alvos_revertidos: shown.map(({ target, since, error }) => ({
      alvo: target === '' ? null : target,
      reverted_at: since.toISOString(),
      erro: error,
    })),
    waiting_reason: waiting?.text ?? null,
    waiting_reason_at: timeOrNull(waiting?.at ?? null),
  }
}

export function toAdminEntry(entry: AuditEntry, hostname: string | null): AdminEntry {
  return {
    seq: entry.seq,
    id: entry.id,
    agente_id: entry.agentId,
    hostname,
    tipo_evento: entry.eventType,
    payload: parsePayload(entry.payloadText),
    payload_text: entry.payloadText,
    entrega_id: entry.deliveryId,
    request_id: entry.requestId,
    timestamp: entry.timestamp,
    hash_anterior: entry.previousHash,
    hash_atual: entry.hash,
  }
}

/** What was tampered with may be no JSON any more; the verification says so, not this. */
function parsePayload(text: string): Record<string, unknown> {
  try {
    return JSON.parse(text) as Record<string, unknown>
  } catch {
    return {}
  }
}

export function timeOrNull(time: Date | null): string | null {
  return time?.toISOString() ?? null
}
