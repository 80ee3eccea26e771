// The rows of a troubled fleet: what a hub would have left of its hosts, their certificates and their deliveries.

import { hash } from 'node:crypto'
import type { Connection } from '../src/hub/store/sqlite/encrypted-database.ts'
import { hostileText } from './hostile-texts.ts'
import type { TroubledCargo, TroubledDelivery } from './troubled-cargoes.ts'
import type { Span, TroubledFleet, TroubledHost } from './troubled-plan.ts'

const MINUTE_MS = 60_000
/** As long as a chain of two certificates. */
const CHAIN_PEM = `-----BEGIN CERTIFICATE-----\n${`${'A'.repeat(64)}\n`.repeat(22)}-----END CERTIFICATE-----\n`
/** Its identity is lost: nobody reads what is sealed for it. */
const RECIPIENT = 'age1cf6syt507qdqp2svu8xacuq3fhsztlp8dx2mm406cdhs8dzt3skscgr824'
/** So many of those that are revoked are not so at the CA. */
const NOT_AT_CA = 2

export interface TroubledCertificate {
  readonly seq: number
  readonly host: TroubledHost
  readonly delivery: TroubledDelivery | undefined
  readonly sha256: string
  readonly serial: string
  readonly span: Span
}

export function fillTroubledRows(
  connection: Connection,
  fleet: TroubledFleet,
  { cargoes, deliveries, certificates }: TroubledGoods,
): void {
  fillCargoes(connection, cargoes)
  fillHosts(connection, fleet)
  fillDeliveries(connection, deliveries)
  fillCertificates(connection, fleet, certificates)
}

export interface TroubledGoods {
  readonly cargoes: readonly TroubledCargo[]
  readonly deliveries: readonly TroubledDelivery[]
  /** The first ones are the identities, by host. */
  readonly certificates: readonly TroubledCertificate[]
}

export function planCertificates(
  { all, chance }: TroubledFleet,
  deliveries: readonly TroubledDelivery[],
): TroubledCertificate[] {
  const wanted = [
    ...all.map((host) => ({ host, delivery: undefined, span: host.identity })),
    ...deliveries.flatMap((delivery) =>
      delivery.span === undefined ? [] : [{ host: delivery.host, delivery, span: delivery.span }],
    ),
  ]
  return wanted.map((one, index) => {
    const sha256 = hash('sha256', `${chance.hex(16)} ${index}`)
    return { ...one, seq: index + 1, sha256, serial: sha256.slice(0, 32) }
  })
}

function fillCargoes(connection: Connection, cargoes: readonly TroubledCargo[]): void {
  const insert = connection.prepare(
    'INSERT INTO cargas (id, tipo, nome, versao, sans, created_at) VALUES (?, ?, ?, ?, ?, ?)',
  )
  const contents = connection.prepare(
    'INSERT INTO cargas_conteudo (carga_id, sha256, escrow, conteudo, modo) VALUES (?, ?, ?, ?, ?)',
  )
  for (const { id, kind, name, version, sans, createdAtMs } of cargoes) {
    insert.run(id, kind, name, version, JSON.stringify(sans), createdAtMs)
    if (kind === 'csr_cert') continue
    const content = Buffer.from(
      kind === 'push' ? 'Maintenance on Sunday, 02:00.\n' : 'age-encryption.org/v1\n-> nobody\n',
    )
    contents.run(id, hash('sha256', content), '[]', content, kind === 'push' ? 0o644 : null)
  }
}

function fillHosts(connection: Connection, fleet: TroubledFleet): void {
  const { chance, all, nowMs, rootSha256 } = fleet
  const agents = connection.prepare(
    `INSERT INTO agentes (id, hostname, role, token_hash, created_at, last_seen_at,
       revoked_at, active_identity_seq, active_identity_since) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?)`,
  )
  const polls = connection.prepare(
    'INSERT INTO agentes_polls (agente_id, last_poll_at) VALUES (?, ?)',
  )
  const chains = connection.prepare('INSERT INTO agentes_cert (agente_id, cert) VALUES (?, ?)')
  const tokens = connection.prepare(
    `INSERT INTO enrollment_tokens (token_hash, expected_hostname, expected_role, created_at,
       expires_at, consumed_at, reenroll, replay_fingerprint, replay_agente_id, replay_cert)
     VALUES (?, ?, ?, ?, ?, ?, 0, ?, ?, ?)`,
  )
  const labels = connection.prepare(
    'INSERT INTO agentes_labels (agente_id, chave, valor, hostname) VALUES (?, ?, ?, ?)',
  )
  const seen = connection.prepare(
    `INSERT INTO agentes_vistos (agente_id, version, platform, addresses, changed_at)
     VALUES (?, ?, ?, ?, ?)`,
  )
  const recipients = connection.prepare(
    'INSERT INTO agentes_recipient (agente_id, recipient) VALUES (?, ?)',
  )
  const trust = connection.prepare(
    `INSERT INTO agentes_raizes (agente_id, numero, fingerprints, erro, reported_at)
     VALUES (?, ?, ?, ?, ?)`,
  )
  for (const host of all) {
    const { id, hostname, role, site, tokenHash, enrolledAtMs, lastPollMs, revokedAtMs } = host
    const heardMs = revokedAtMs ?? lastPollMs
    const seq = host.index + 1
    const since = host.identity.notBeforeMs
    agents.run(id, hostname, role, tokenHash, enrolledAtMs, heardMs, revokedAtMs, seq, since)
    polls.run(id, heardMs)
    chains.run(id, CHAIN_PEM)
    const [made, ends] = [enrolledAtMs - 7 * MINUTE_MS, enrolledAtMs + 53 * MINUTE_MS]
    tokens.run(tokenHash, hostname, role, made, ends, enrolledAtMs, tokenHash, id, CHAIN_PEM)
    const env = chance.next() < 0.85 ? 'prod' : 'staging'
    for (const [name, value] of [
      ['env', env],
      ['rack', `${site}-r${chance.integer(1, 24)}`],
      ['site', site],
    ]) {
      labels.run(id, name, value, hostname)
    }
    const version = chance.next() < 0.9 ? '0.4.0' : '0.3.2'
    const address = [10, chance.integer(16, 31), chance.integer(0, 255), chance.integer(1, 254)]
    const platform = host.isHostile ? hostileText(host.index).slice(0, 64) : 'linux-x64'
    recipients.run(id, RECIPIENT)
    // Some have yet to say what they have; one in a thousand refuses.
    const adopted = chance.next()
    if (adopted < 0.994) {
      const refusal = adopted < 0.001 ? 'the set is signed by no key of /etc/svc-agent/trust' : null
      const set = refusal === null ? [rootSha256] : []
      trust.run(id, set.length, JSON.stringify(set), refusal, host.lastPollMs)
    }
    seen.run(id, version, platform, JSON.stringify([address.join('.')]), nowMs)
  }
}

function fillDeliveries(connection: Connection, deliveries: readonly TroubledDelivery[]): void {
  const insert = connection.prepare(
    `INSERT INTO entregas (id, carga_id, agente_id, status, updated_at, erro, versao, sans)
     VALUES (?, ?, ?, ?, ?, ?, ?, ?)`,
  )
  for (const { id, cargo, host, status, updatedAtMs, error } of deliveries) {
    const sans = JSON.stringify(cargo.sans)
    insert.run(id, cargo.id, host.id, status, updatedAtMs, error, cargo.version, sans)
  }
}

function fillCertificates(
  connection: Connection,
  { nowMs }: TroubledFleet,
  certificates: readonly TroubledCertificate[],
): void {
  const insert = connection.prepare(
    `INSERT INTO certificados (seq, sha256, serial, agente_id, purpose, entrega_id, not_before,
       not_after, revoked_at, first_used_at, ca_revoked_at, ca_refused_at, ca_reason)
     VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)`,
  )
  let refused = 0
  for (const { seq, host, delivery, sha256, serial, span } of certificates) {
    const revokedAtMs = host.revokedAtMs
    const isRefused = revokedAtMs !== null && refused < NOT_AT_CA
    if (isRefused) refused += 1
    insert.run(
      seq,
      sha256,
      serial,
      host.id,
      delivery === undefined ? 'identity' : 'delivery',
      delivery?.id ?? null,
      span.notBeforeMs,
      span.notAfterMs,
      revokedAtMs,
      delivery === undefined ? span.notBeforeMs : null,
      isRefused ? null : revokedAtMs,
      isRefused ? nowMs - 64 * MINUTE_MS : null,
      isRefused ? 'HTTP 501: the CA has no database' : null,
    )
  }
}
