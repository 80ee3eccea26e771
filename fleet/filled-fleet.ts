// The rows of a filled vault's agents, with their tokens, entregas and certificates.

import type { Connection } from '../src/hub/store/sqlite/encrypted-database.ts'
import type { PlannedAgent, PlannedFleet } from './planned-fleet.ts'

const TOKEN_LIFETIME_MS = 3_600_000
/** As long as a chain of two certificates. */
const CHAIN_PEM = `-----BEGIN CERTIFICATE-----\n${`${'A'.repeat(64)}\n`.repeat(22)}-----END CERTIFICATE-----\n`
const PROGRESS_EVERY = 100_000

export function fillFleet(
  connection: Connection,
  fleet: PlannedFleet,
  progress: (text: string) => void,
): void {
  fillCargoes(connection, fleet)
  fillAgents(connection, fleet)
  fillCertificates(connection, fleet, progress)
}

function fillCargoes(connection: Connection, { roles, startMs, cargoIdOf }: PlannedFleet): void {
  const insert = connection.prepare(
    `INSERT INTO cargas (id, tipo, nome, versao, sans, created_at) VALUES (?, 'csr_cert', ?, 1, '[]', ?)`,
  )
  for (const role of roles) insert.run(cargoIdOf(role), `site-${role}`, startMs)
}

function fillAgents(connection: Connection, fleet: PlannedFleet): void {
  const { nowMs, startMs, sizes, cargoIdOf } = fleet
  const agents = connection.prepare(
    `INSERT INTO agentes (id, hostname, role, token_hash, created_at, last_seen_at,
       revoked_at, active_identity_seq, active_identity_since) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?)`,
  )
  const polls = connection.prepare(
    'INSERT INTO agentes_polls (agente_id, last_poll_at) VALUES (?, ?)',
  )
  const certificates = connection.prepare(
    'INSERT INTO agentes_cert (agente_id, cert) VALUES (?, ?)',
  )
  const tokens = connection.prepare(
    `INSERT INTO enrollment_tokens (token_hash, expected_hostname, expected_role, created_at,
       expires_at, consumed_at, reenroll, replay_fingerprint, replay_agente_id, replay_cert)
     VALUES (?, ?, ?, ?, ?, ?, 0, ?, ?, ?)`,
  )
  const deliveries = connection.prepare(
    `INSERT INTO entregas (id, carga_id, agente_id, status, updated_at, versao, sans)
     VALUES (?, ?, ?, ?, ?, 1, '[]')`,
  )
  for (const agent of fleet.agents) {
    const identity = lastIdentityOf(agent, sizes)
    const at = startMs + agent.index
    agents.run(
      agent.id,
      agent.hostname,
      agent.role,
      agent.tokenHash,
      at,
      nowMs,
      agent.isRevoked ? nowMs : null,
      identity ?? null,
      identity === undefined ? null : fleet.certificate(identity).issuedAtMs,
    )
    polls.run(agent.id, nowMs)
    certificates.run(agent.id, CHAIN_PEM)
    tokens.run(
      agent.tokenHash,
      agent.hostname,
      agent.role,
      at - 1000,
      at + TOKEN_LIFETIME_MS,
      at,
      agent.tokenHash,
      agent.id,
      CHAIN_PEM,
    )
    const hasCertificate = sizes.agents + agent.index < sizes.certificates
    const live = hasCertificate ? 'instalada' : 'pendente'
    const status = agent.isRevoked ? 'cancelada' : live
    deliveries.run(agent.deliveryId, cargoIdOf(agent.role), agent.id, status, at)
  }
}

/** Identities are the certificates of every second round, from the first on. */
function lastIdentityOf(
  { index }: PlannedAgent,
  { agents, certificates }: PlannedFleet['sizes'],
): number | undefined {
  let last: number | undefined
  for (let seq = index + 1; seq <= certificates; seq += 2 * agents) last = seq
  return last
}

function fillCertificates(
  connection: Connection,
  { sizes, nowMs, certificate }: PlannedFleet,
  progress: (text: string) => void,
): void {
  const insert = connection.prepare(
    `INSERT INTO certificados (seq, sha256, serial, agente_id, purpose, entrega_id, not_before,
       not_after, revoked_at, ca_revoked_at, first_used_at) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)`,
  )
  for (let seq = 1; seq <= sizes.certificates; seq += 1) {
    const { agent, isDelivery, ...planned } = certificate(seq)
    const revokedAtMs = agent.isRevoked ? nowMs : null
    insert.run(
      seq,
      planned.sha256,
      planned.serial,
      agent.id,
      isDelivery ? 'delivery' : 'identity',
      isDelivery ? agent.deliveryId : null,
      planned.issuedAtMs,
      planned.notAfterMs,
      revokedAtMs,
      revokedAtMs,
      isDelivery ? null : planned.issuedAtMs,
    )
    if (seq % PROGRESS_EVERY === 0) progress(`certificates ${seq}`)
  }
}
