// The log of a troubled fleet: enrolments, certificates and deliveries at their times, with what agents say every day between them.
// What is before the evening of trouble is put in place as it is; the acts of that evening come between what is left.

import { formatTimestamp, hashEntry } from '../src/audit/hash-chain.ts'
import type { NewAuditEntry } from '../src/hub/domain/audit-entry.ts'
import type { Connection } from '../src/hub/store/sqlite/encrypted-database.ts'
import type { AuditHead } from '../src/hub/vault/audit-head.ts'
import type { AgentId, DeliveryId, EntryId } from '../src/protocol/identifiers.ts'
import { EventType, HubEventType } from '../src/protocol/words.ts'
import { requestIdAt } from './filled-log.ts'
import { hostileText } from './hostile-texts.ts'
import type { TroubledFleet } from './troubled-plan.ts'
import type { TroubledGoods } from './troubled-rows.ts'

const MINUTE_MS = 60_000
/** So many hosts say each day that they have asked for their manifest, in a fleet of any size. */
const POLLS_MAX = 12_000

/** In the order of their times. */
export function planLog(fleet: TroubledFleet, goods: TroubledGoods): NewAuditEntry[] {
  return [...listEntries(fleet, goods)].sort((a, b) => a.at.getTime() - b.at.getTime())
}

function* listEntries(fleet: TroubledFleet, goods: TroubledGoods): Generator<NewAuditEntry> {
  const { chance, all, nowMs } = fleet
  const entry = (
    atMs: number,
    eventType: string,
    payload: object,
    about: { readonly agentId?: string; readonly deliveryId?: string } = {},
  ): NewAuditEntry => ({
    id: chance.uuid() as EntryId,
    agentId: (about.agentId ?? null) as AgentId | null,
    eventType,
    payloadText: JSON.stringify(payload),
    deliveryId: (about.deliveryId ?? null) as DeliveryId | null,
    requestId: about.agentId === undefined ? null : requestIdAt(atMs),
    at: new Date(atMs),
  })
  for (const { id, name, kind, sans, createdAtMs, version } of goods.cargoes) {
    const payload = { actor: 'token:deploy', carga_id: id, carga_nome: name, tipo: kind, sans }
    yield entry(createdAtMs, HubEventType.cargoCreated, { ...payload, versao: version })
  }
  for (const host of all) {
    const { id, hostname, role, tokenHash, enrolledAtMs, revokedAtMs } = host
    const token = { token_id: tokenHash.slice(0, 16), hostname, role, reenroll: false }
    const expires_at = new Date(enrolledAtMs + 53 * MINUTE_MS).toISOString()
    const made = { actor: 'token:deploy', ...token, expires_at }
    yield entry(enrolledAtMs - 7 * MINUTE_MS, HubEventType.tokenCreated, made)
    const enrolled = { actor: 'token', agente_id: id, ...token }
    yield entry(enrolledAtMs, HubEventType.agentEnrolled, enrolled)
    if (revokedAtMs === null) continue
    yield entry(revokedAtMs, HubEventType.agentRevoked, {
      actor: 'token:oncall',
      agente_id: id,
      hostname,
    })
  }
  for (const { host, delivery, serial, sha256, span } of goods.certificates) {
    const { id, hostname } = host
    const not_after = new Date(span.notAfterMs).toISOString()
    const issued = { actor: 'hub', agente_id: id, hostname, serial, sha256, csr_sha256: sha256 }
    const purpose = delivery === undefined ? 'identity' : 'delivery'
    const request = delivery === undefined ? 'renewal' : 'delivery'
    const payload = { ...issued, not_after, purpose, request, politica: host.role }
    const about = delivery === undefined ? {} : { deliveryId: delivery.id }
    const atMs = Math.max(span.notBeforeMs, host.enrolledAtMs)
    yield entry(atMs, HubEventType.certificateIssued, payload, about)
    const told = { agentId: id, ...about }
    if (delivery === undefined) {
      const trigger = 'auto_threshold'
      const renewed = { old_serial: chance.hex(32), new_serial: serial, trigger }
      yield entry(atMs + 400, EventType.certRenewed, renewed, told)
    } else {
      const carga_nome = delivery.cargo.name
      const paths = { cert_path: `/out/${carga_nome}.crt`, key_path: `/out/${carga_nome}.key` }
      yield entry(atMs + 900, EventType.deliveryInstalled, { ...paths, carga_nome, serial }, told)
      if (chance.next() < 0.3) {
        const applied = { alvo: 'nginx', carga_nome, probe: 'ok' }
        yield entry(atMs + 2100, EventType.targetApplied, applied, told)
      }
    }
  }
  for (const { id, cargo, host, status, updatedAtMs, error } of goods.deliveries) {
    const about = { agentId: host.id, deliveryId: id }
    if (status === 'entregue') {
      const payload = { carga_nome: cargo.name, versao: cargo.version, path: `/out/${cargo.name}` }
      yield entry(updatedAtMs, EventType.deliveryDelivered, payload, about)
    }
    if (status === 'falhou')
      yield entry(updatedAtMs, EventType.deliveryFailed, { erro: error ?? '' }, about)
  }
  const step = Math.max(1, Math.ceil(all.length / POLLS_MAX))
  for (const host of all.filter(({ index }) => index % step === 0)) {
    if (host.revokedAtMs !== null) continue
    const atMs = Math.max(host.enrolledAtMs, nowMs - Math.floor(chance.between(0, 20 * 3_600_000)))
    if (atMs > host.lastPollMs) continue
    const payload = host.isHostile ? { count: 2, note: hostileText(host.index) } : { count: 2 }
    yield entry(atMs, EventType.manifestPulled, payload, { agentId: host.id })
  }
}

/** Puts them behind what the log has already, and answers its head. */
export function insertLog(connection: Connection, entries: readonly NewAuditEntry[]): AuditHead {
  const insert = connection.prepare(
    `INSERT INTO eventos (seq, id, agente_id, tipo_evento, payload, entrega_id, request_id, timestamp,
       hash_anterior, hash_atual) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?)`,
  )
  let head = connection
    .prepare('SELECT seq, hash_atual AS hash FROM eventos ORDER BY seq DESC LIMIT 1')
    .get() as AuditHead
  for (const { id, agentId, eventType, payloadText, deliveryId, requestId, at } of entries) {
    const timestamp = formatTimestamp(at)
    const next = { seq: head.seq + 1, hash: hashEntry(head.hash, payloadText, timestamp) }
    insert.run(
      next.seq,
      id,
      agentId,
      eventType,
      payloadText,
      deliveryId,
      requestId,
      timestamp,
      head.hash,
      next.hash,
    )
    head = next
  }
  return head
}
