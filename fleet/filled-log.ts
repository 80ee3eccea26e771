// The audit log of a filled vault: what became of each agent, round by round, chained as the hub chains it.

import { randomUUID } from 'node:crypto'
import { formatTimestamp, GENESIS_HASH, hashEntry } from '../src/audit/hash-chain.ts'
import { invariant } from '../src/platform/errors.ts'
import type { Connection } from '../src/hub/store/sqlite/encrypted-database.ts'
import type { AuditHead } from '../src/hub/vault/audit-head.ts'
import { EventType, HubEventType } from '../src/protocol/words.ts'
import type { PlannedAgent, PlannedFleet } from './planned-fleet.ts'

const PROGRESS_EVERY = 1_000_000

interface FilledEntry {
  readonly agentId: string | null
  readonly type: string
  readonly payload: object
  readonly deliveryId?: string
}

/** One transaction each; the head of the log. */
export function fillLog(
  connection: Connection,
  fleet: PlannedFleet,
  progress: (text: string) => void,
): AuditHead {
  const insert = connection.prepare(
    `INSERT INTO eventos (seq, id, agente_id, tipo_evento, payload, entrega_id, request_id, timestamp,
       hash_anterior, hash_atual) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?)`,
  )
  const { startMs, nowMs, agents } = fleet
  const { entries } = fleet.sizes
  let head = GENESIS_HASH
  for (let seq = 1; seq <= entries; seq += 1) {
    const agent = agents[(seq - 1) % agents.length]
    invariant(agent !== undefined, 'each entry is of an agent')
    const round = Math.floor((seq - 1) / agents.length)
    const atMs = Math.floor(startMs + ((nowMs - startMs) * seq) / entries)
    const entry = entryOf(fleet, agent, round)
    const payload = JSON.stringify(entry.payload)
    const timestamp = formatTimestamp(new Date(atMs))
    const hash = hashEntry(head, payload, timestamp)
    insert.run(
      seq,
      randomUUID(),
      entry.agentId,
      entry.type,
      payload,
      entry.deliveryId ?? null,
      entry.agentId === null ? null : requestIdAt(atMs),
      timestamp,
      head,
      hash,
    )
    head = hash
    if (seq % PROGRESS_EVERY === 0) progress(`entries ${seq}`)
  }
  return { seq: entries, hash: head }
}

/** First its enrolment, then each certificate with what the agent says of it, then what agents say every day. */
function entryOf(fleet: PlannedFleet, agent: PlannedAgent, round: number): FilledEntry {
  const { id, hostname, role, tokenHash, deliveryId } = agent
  const { sizes } = fleet
  if (round === 0) {
    const expires = new Date(fleet.startMs).toISOString()
    const token = { actor: 'admin', token_id: tokenHash.slice(0, 16), hostname, role }
    const payload = { ...token, expires_at: expires, reenroll: false }
    return { agentId: null, type: HubEventType.tokenCreated, payload }
  }
  if (round === 1) {
    const token = { actor: 'token', token_id: tokenHash.slice(0, 16), agente_id: id }
    const payload = { ...token, hostname, role, reenroll: false }
    return { agentId: null, type: HubEventType.agentEnrolled, payload }
  }
  const certificateRound = Math.floor((round - 2) / 2)
  const seq = certificateRound * sizes.agents + agent.index + 1
  if (seq > sizes.certificates) return everydayEvent(agent, round)
  const certificate = fleet.certificate(seq)
  const { serial, sha256, isDelivery } = certificate
  const about = isDelivery ? { deliveryId } : {}
  if (round % 2 === 0) {
    const not_after = new Date(certificate.notAfterMs).toISOString()
    const purpose = isDelivery ? 'delivery' : 'identity'
    const issued = { actor: 'hub', agente_id: id, hostname, serial, sha256, csr_sha256: sha256 }
    const payload = { ...issued, not_after, purpose }
    return { agentId: null, type: HubEventType.certificateIssued, payload, ...about }
  }
  return isDelivery
    ? { agentId: id, type: EventType.deliveryInstalled, payload: { serial }, ...about }
    : { agentId: id, type: EventType.certRenewed, payload: { serial, trigger: 'auto_threshold' } }
}

const EVERYDAY = [EventType.manifestPulled, EventType.targetApplied, EventType.agentStarted]

function everydayEvent(agent: PlannedAgent, round: number): FilledEntry {
  const type = EVERYDAY[round % EVERYDAY.length] ?? EventType.agentStarted
  const payload = { version: '0.4.0', hostname: agent.hostname, entregas: 1, alvo: 'nginx', round }
  return { agentId: agent.id, type, payload }
}

/** Version 7 of RFC 9562, as agents make them: they sort by time. */
export function requestIdAt(ms: number): string {
  const time = ms.toString(16).padStart(12, '0')
  return `${time.slice(0, 8)}-${time.slice(8)}-7${randomUUID().slice(15)}`
}
