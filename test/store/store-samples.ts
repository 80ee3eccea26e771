// Agents, tokens and the like for the tests of a Store.

import { hash, randomBytes, randomUUID } from 'node:crypto'
import type {
  AgentId,
  ArtefactName,
  CargoId,
  DeliveryId,
  EntryId,
  Hostname,
  JoinRuleId,
  TokenHash,
} from '../../src/protocol/identifiers.ts'
import type { Agent } from '../../src/hub/domain/agent.ts'
import type { AuditEntry, NewAuditEntry } from '../../src/hub/domain/audit-entry.ts'
import type { Cargo, CargoContent } from '../../src/hub/domain/cargo.ts'
import type { Delivery } from '../../src/hub/domain/delivery.ts'
import type { EnrollmentToken } from '../../src/hub/domain/enrollment-token.ts'
import type {
  IssuedCertificate,
  NewIssuedCertificate,
} from '../../src/hub/domain/issued-certificate.ts'
import type { JoinRule } from '../../src/hub/domain/join-rule.ts'
import { appendEntry } from '../../src/hub/service/append-entries.ts'
import type { Store } from '../../src/hub/store/store.ts'

export const NOW: Date = new Date('2026-11-21T10:00:00.123Z')
export const LATER: Date = new Date('2026-11-21T11:00:00.000Z')

export function newAgent(hostname: string): Agent {
  return {
    id: randomUUID() as AgentId,
    hostname: hostname as Hostname,
    role: 'web',
    enrolledWith: 'f'.repeat(64) as TokenHash,
    createdAt: NOW,
    lastSeenAt: null,
    revokedAt: null,
    removedAt: null,
    activeIdentity: null,
  }
}

export async function insertAgent(store: Store, hostname: string): Promise<Agent> {
  const agent = newAgent(hostname)
  await store.write((writer) => writer.insertAgent(agent))
  return agent
}

export async function insertToken(
  store: Store,
  changes: Partial<EnrollmentToken> = {},
): Promise<EnrollmentToken> {
  const token: EnrollmentToken = {
    hash: randomBytes(32).toString('hex') as TokenHash,
    expectedHostname: 'web-1' as Hostname,
    expectedRole: 'web',
    labels: new Map(),
    createdAt: NOW,
    expiresAt: LATER,
    consumedAt: null,
    isReenrollment: true,
    isOperators: false,
    mismatches: 0,
    joinRuleId: null,
    endedAt: null,
    replay: null,
    ...changes,
  }
  await store.write((writer) => writer.insertToken(token))
  return token
}

export async function insertJoinRule(
  store: Pick<Store, 'write'>,
  changes: Partial<JoinRule> = {},
): Promise<{ readonly rule: JoinRule; readonly token: string }> {
  const id = randomBytes(8).toString('hex') as JoinRuleId
  const token = `svcj_${id}`
  const rule: JoinRule = {
    id,
    name: `rule-${id}`,
    proof: { method: 'token', tokenHash: hash('sha256', token) as TokenHash },
    role: 'web',
    pattern: 'web-*.example.org',
    hostsMax: 40,
    hosts: 0,
    labels: new Map(),
    silentMs: null,
    createdAt: NOW,
    expiresAt: LATER,
    endedAt: null,
    watch: null,
    ...changes,
  }
  await store.write((writer) => writer.insertJoinRule(rule))
  return { rule, token }
}

export function newCertificate(agentId: AgentId): NewIssuedCertificate {
  return {
    sha256: randomBytes(32).toString('hex'),
    serial: randomBytes(16).toString('hex'),
    agentId,
    purpose: 'identity',
    deliveryId: null,
    rootSha256: null,
    notBefore: NOW,
    notAfter: LATER,
  }
}

export function insertCertificate(store: Store, agentId: AgentId): Promise<IssuedCertificate> {
  return store.write((writer) => writer.insertCertificate(newCertificate(agentId)))
}

export function newCargo(name: string): Cargo {
  return {
    id: randomUUID() as CargoId,
    kind: 'csr_cert',
    name: name as ArtefactName,
    version: 1,
    sans: ['www.example.org', '192.0.2.1'],
    where: null,
    createdAt: NOW,
    removedAt: null,
  }
}

export async function insertCargo(store: Store, name: string): Promise<Cargo> {
  const cargo = newCargo(name)
  await store.write((writer) => writer.insertCargo(cargo))
  return cargo
}

export function newContent(byteCount: number): CargoContent {
  const bytes = randomBytes(byteCount)
  return { bytes, sha256: hash('sha256', bytes), escrow: [] }
}

export async function insertDelivery(
  store: Store,
  agentId: AgentId,
  cargo: Cargo,
): Promise<Delivery> {
  const delivery: Delivery = {
    id: randomUUID() as DeliveryId,
    cargoId: cargo.id,
    agentId,
    status: 'pendente',
    updatedAt: NOW,
    error: null,
    version: cargo.version,
    sans: cargo.sans,
    replacedBy: null,
  }
  await store.write((writer) => writer.insertDeliveries([delivery]))
  return delivery
}

export function newEntry(content: Partial<NewAuditEntry>): NewAuditEntry {
  return {
    id: randomUUID() as EntryId,
    agentId: null,
    eventType: 'agent_started',
    payloadText: '{}',
    deliveryId: null,
    requestId: null,
    at: NOW,
    ...content,
  }
}

export function append(store: Store, content: Partial<NewAuditEntry>): Promise<AuditEntry> {
  return store.write((writer) => appendEntry(writer, newEntry(content)))
}
