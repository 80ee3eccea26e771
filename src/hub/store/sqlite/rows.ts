// Rows and domain types: the one place where the tables' words are translated. What the tables hold was parsed on its
// way in, so brands are put back without another look.

import type { Agent } from '../../domain/agent.ts'
import type { AgentRequests } from '../../domain/agent-requests.ts'
import type { AuditEntry } from '../../domain/audit-entry.ts'
import type { Cargo, CargoContent } from '../../domain/cargo.ts'
import type { Delivery } from '../../domain/delivery.ts'
import type { EnrollmentToken } from '../../domain/enrollment-token.ts'
import type { IssuedCertificate, NewIssuedCertificate } from '../../domain/issued-certificate.ts'
import type { Policy } from '../../domain/policy.ts'
import type { AgentTrust, RootSet, StandingCertificate } from '../../domain/root-set.ts'
import type { DeliveryWithCargo } from '../store.ts'

type Instant = number

export interface AgentRow {
  id: Agent['id']
  hostname: Agent['hostname']
  role: string
  token_hash: Agent['enrolledWith']
  created_at: Instant
  last_seen_at: Instant | null
  last_poll_at: Instant | null
  revoked_at: Instant | null
  removed_at: Instant | null
  active_identity_seq: number | null
  active_identity_since: Instant | null
}

export interface AgentRequestsRow {
  sync_at: Instant | null
  rotate_at: Instant | null
  rotate_after_seq: number | null
}

export interface TokenRow {
  token_hash: EnrollmentToken['hash']
  expected_hostname: EnrollmentToken['expectedHostname']
  expected_role: string
  created_at: Instant
  expires_at: Instant
  ended_at: Instant | null
  consumed_at: Instant | null
  reenroll: 0 | 1
  de_operador: 0 | 1
  mismatches: number
  replay_fingerprint: string | null
  replay_agente_id: Agent['id'] | null
  replay_cert: string | null
}

export interface CargoRow {
  id: Cargo['id']
  tipo: Cargo['kind']
  nome: Cargo['name']
  versao: number
  sans: string
  created_at: Instant
  removed_at: Instant | null
}

export interface ContentRow {
  sha256: string
  escrow: string
  conteudo: Uint8Array
  modo: number | null
}

export interface PolicyRow {
  role: string
  nome: string
  token_ttl_max: number | null
  cert_ttl: number | null
  sans_permitidos: string
  sans_nomeados: 0 | 1
  cargas_automaticas: string
  reenroll: 0 | 1
}

export interface DeliveryRow {
  id: Delivery['id']
  carga_id: Delivery['cargoId']
  agente_id: Delivery['agentId']
  status: Delivery['status']
  updated_at: Instant
  erro: string | null
  versao: number
  sans: string
  substituida_por: Delivery['id'] | null
}

export interface DeliveryWithCargoRow extends DeliveryRow {
  hostname: DeliveryWithCargo['hostname']
  carga_tipo: Cargo['kind']
  carga_nome: Cargo['name']
  carga_versao: number
  carga_sans: string
  carga_created_at: Instant
  carga_removed_at: Instant | null
}

export interface NewCertificateRow {
  sha256: string
  serial: string
  agente_id: IssuedCertificate['agentId']
  purpose: IssuedCertificate['purpose']
  entrega_id: IssuedCertificate['deliveryId']
  not_before: Instant
  not_after: Instant
  raiz: string | null
}

export interface CertificateRow extends NewCertificateRow {
  seq: number
  revoked_at: Instant | null
  first_used_at: Instant | null
}

export interface RootSetRow {
  epoca: number
  numero: number
  roots: string
  created_at: Instant
}

export interface AgentTrustRow {
  agente_id: AgentTrust['agentId']
  numero: number | null
  fingerprints: string
  pinned: string | null
  erro: string | null
  reported_at: Instant
}

export interface StandingCertificateRow {
  agente_id: StandingCertificate['agentId']
  hostname: string
  nome: string | null
  serial: string
  not_after: Instant
  raiz: string | null
}

export interface EntryRow {
  seq: number
  id: AuditEntry['id']
  agente_id: AuditEntry['agentId']
  tipo_evento: string
  payload: string
  entrega_id: AuditEntry['deliveryId']
  request_id: string | null
  timestamp: string
  hash_anterior: string
  hash_atual: string
}

export function toAgent(row: AgentRow): Agent {
  const { active_identity_seq: seq, active_identity_since: since } = row
  return {
    id: row.id,
    hostname: row.hostname,
    role: row.role,
    enrolledWith: row.token_hash,
    createdAt: new Date(row.created_at),
    lastSeenAt: toDate(row.last_seen_at),
    lastPollAt: toDate(row.last_poll_at),
    revokedAt: toDate(row.revoked_at),
    removedAt: toDate(row.removed_at),
    activeIdentity: seq === null || since === null ? null : { seq, since: new Date(since) },
  }
}

/** An agent that nothing was asked of has no row. */
export function toAgentRequests(row: AgentRequestsRow | undefined): AgentRequests {
  const { sync_at: syncAt = null, rotate_at: rotateAt = null } = row ?? {}
  const afterSeq = row?.rotate_after_seq ?? 0
  return {
    syncAt: syncAt === null ? null : new Date(syncAt),
    rotation: rotateAt === null ? null : { at: new Date(rotateAt), afterSeq },
  }
}

export function fromAgent(agent: Agent): AgentRow {
  return {
    id: agent.id,
    hostname: agent.hostname,
    role: agent.role,
    token_hash: agent.enrolledWith,
    created_at: agent.createdAt.getTime(),
    last_seen_at: fromDate(agent.lastSeenAt),
    last_poll_at: fromDate(agent.lastPollAt),
    revoked_at: fromDate(agent.revokedAt),
    removed_at: fromDate(agent.removedAt),
    active_identity_seq: agent.activeIdentity?.seq ?? null,
    active_identity_since: fromDate(agent.activeIdentity?.since ?? null),
  }
}

export function toToken(row: TokenRow): EnrollmentToken {
  const { replay_fingerprint: fingerprint, replay_agente_id: agentId, replay_cert: pem } = row
  const isReplayable = fingerprint !== null && agentId !== null && pem !== null
  return {
    hash: row.token_hash,
    expectedHostname: row.expected_hostname,
    expectedRole: row.expected_role,
    createdAt: new Date(row.created_at),
    expiresAt: new Date(row.expires_at),
    consumedAt: toDate(row.consumed_at),
    endedAt: toDate(row.ended_at),
    isReenrollment: row.reenroll === 1,
    isOperators: row.de_operador === 1,
    mismatches: row.mismatches,
    replay: isReplayable ? { fingerprint, agentId, certificatePem: pem } : null,
  }
}

export function fromToken(token: EnrollmentToken): TokenRow {
  return {
    token_hash: token.hash,
    expected_hostname: token.expectedHostname,
    expected_role: token.expectedRole,
    created_at: token.createdAt.getTime(),
    expires_at: token.expiresAt.getTime(),
    consumed_at: fromDate(token.consumedAt),
    ended_at: fromDate(token.endedAt),
    reenroll: token.isReenrollment ? 1 : 0,
    de_operador: token.isOperators ? 1 : 0,
    mismatches: token.mismatches,
    replay_fingerprint: token.replay?.fingerprint ?? null,
    replay_agente_id: token.replay?.agentId ?? null,
    replay_cert: token.replay?.certificatePem ?? null,
  }
}

export function toCargo(row: CargoRow): Cargo {
  return {
    id: row.id,
    kind: row.tipo,
    name: row.nome,
    version: row.versao,
    sans: JSON.parse(row.sans) as string[],
    createdAt: new Date(row.created_at),
    removedAt: toDate(row.removed_at),
  }
}

export function fromCargo(cargo: Cargo): CargoRow {
  return {
    id: cargo.id,
    tipo: cargo.kind,
    nome: cargo.name,
    versao: cargo.version,
    sans: JSON.stringify(cargo.sans),
    created_at: cargo.createdAt.getTime(),
    removed_at: fromDate(cargo.removedAt),
  }
}

export function toContent(row: ContentRow): CargoContent {
  return {
    bytes: row.conteudo,
    sha256: row.sha256,
    escrow: JSON.parse(row.escrow) as CargoContent['escrow'],
    ...(row.modo === null ? {} : { mode: row.modo }),
  }
}

export function toPolicy(row: PolicyRow): Policy {
  return {
    role: row.role,
    name: row.nome,
    tokenTtlSecondsMax: row.token_ttl_max,
    certTtlSeconds: row.cert_ttl,
    permittedSans: JSON.parse(row.sans_permitidos) as string[],
    areSansNamed: row.sans_nomeados === 1,
    mayOperatorsReenroll: row.reenroll === 1,
    automaticCargoes: JSON.parse(row.cargas_automaticas) as Cargo['id'][],
  }
}

export function fromPolicy(policy: Policy): PolicyRow {
  return {
    role: policy.role,
    nome: policy.name,
    token_ttl_max: policy.tokenTtlSecondsMax,
    cert_ttl: policy.certTtlSeconds,
    sans_permitidos: JSON.stringify(policy.permittedSans),
    sans_nomeados: policy.areSansNamed ? 1 : 0,
    reenroll: policy.mayOperatorsReenroll ? 1 : 0,
    cargas_automaticas: JSON.stringify(policy.automaticCargoes),
  }
}

export function toDelivery(row: DeliveryRow): Delivery {
  return {
    id: row.id,
    cargoId: row.carga_id,
    agentId: row.agente_id,
    status: row.status,
    updatedAt: new Date(row.updated_at),
    error: row.erro,
    version: row.versao,
    sans: JSON.parse(row.sans) as string[],
    replacedBy: row.substituida_por,
  }
}

export function fromDelivery(delivery: Delivery): DeliveryRow {
  return {
    id: delivery.id,
    carga_id: delivery.cargoId,
    agente_id: delivery.agentId,
    status: delivery.status,
    updated_at: delivery.updatedAt.getTime(),
    erro: delivery.error,
    versao: delivery.version,
    sans: JSON.stringify(delivery.sans),
    substituida_por: delivery.replacedBy,
  }
}

export function toDeliveryWithCargo(row: DeliveryWithCargoRow): DeliveryWithCargo {
  const cargo = toCargo({
    id: row.carga_id,
    tipo: row.carga_tipo,
    nome: row.carga_nome,
    versao: row.carga_versao,
    sans: row.carga_sans,
    created_at: row.carga_created_at,
    removed_at: row.carga_removed_at,
  })
  return { ...toDelivery(row), cargo, hostname: row.hostname }
}

export function toCertificate(row: CertificateRow): IssuedCertificate {
  return {
    seq: row.seq,
    sha256: row.sha256,
    serial: row.serial,
    agentId: row.agente_id,
    purpose: row.purpose,
    deliveryId: row.entrega_id,
    notBefore: new Date(row.not_before),
    notAfter: new Date(row.not_after),
    rootSha256: row.raiz,
    revokedAt: toDate(row.revoked_at),
    firstUsedAt: toDate(row.first_used_at),
  }
}

export function fromNewCertificate(certificate: NewIssuedCertificate): NewCertificateRow {
  return {
    sha256: certificate.sha256,
    serial: certificate.serial,
    agente_id: certificate.agentId,
    purpose: certificate.purpose,
    entrega_id: certificate.deliveryId,
    not_before: certificate.notBefore.getTime(),
    not_after: certificate.notAfter.getTime(),
    raiz: certificate.rootSha256,
  }
}

export function toRootSet(row: RootSetRow): RootSet {
  const { epoca: epoch, numero: number, roots: pem } = row
  return { epoch, number, pem, createdAt: new Date(row.created_at) }
}

export function fromRootSet({ epoch, number, pem, createdAt }: RootSet): RootSetRow {
  return { epoca: epoch, numero: number, roots: pem, created_at: createdAt.getTime() }
}

export function toAgentTrust(row: AgentTrustRow): AgentTrust {
  return {
    agentId: row.agente_id,
    number: row.numero,
    fingerprints: JSON.parse(row.fingerprints) as string[],
    pinned: row.pinned === null ? null : (JSON.parse(row.pinned) as string[]),
    error: row.erro,
    reportedAt: new Date(row.reported_at),
  }
}

export function fromAgentTrust(trust: AgentTrust): AgentTrustRow {
  return {
    agente_id: trust.agentId,
    numero: trust.number,
    fingerprints: JSON.stringify(trust.fingerprints),
    pinned: trust.pinned === null ? null : JSON.stringify(trust.pinned),
    erro: trust.error,
    reported_at: trust.reportedAt.getTime(),
  }
}

export function toStandingCertificate(row: StandingCertificateRow): StandingCertificate {
  return {
    agentId: row.agente_id,
    hostname: row.hostname,
    deliveryName: row.nome,
    serial: row.serial,
    notAfter: new Date(row.not_after),
    rootSha256: row.raiz,
  }
}

export function toEntry(row: EntryRow): AuditEntry {
  return {
    seq: row.seq,
    id: row.id,
    agentId: row.agente_id,
    eventType: row.tipo_evento,
    payloadText: row.payload,
    deliveryId: row.entrega_id,
    requestId: row.request_id,
    timestamp: row.timestamp,
    previousHash: row.hash_anterior,
    hash: row.hash_atual,
  }
}

export function fromEntry(entry: AuditEntry): EntryRow {
  return {
    seq: entry.seq,
    id: entry.id,
    agente_id: entry.agentId,
    tipo_evento: entry.eventType,
    payload: entry.payloadText,
    entrega_id: entry.deliveryId,
    request_id: entry.requestId,
    timestamp: entry.timestamp,
    hash_anterior: entry.previousHash,
    hash_atual: entry.hash,
  }
}

function toDate(instant: Instant | null): Date | null {
  return instant === null ? null : new Date(instant)
}

function fromDate(date: Date | null): Instant | null {
  return date === null ? null : date.getTime()
}
