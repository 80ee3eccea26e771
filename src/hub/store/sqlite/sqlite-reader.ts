import type { SealedReply } from '../../domain/admin-reply.ts'
import type { Agent } from '../../domain/agent.ts'
import type { AgentRequests } from '../../domain/agent-requests.ts'
import type { AgentSighting } from '../../domain/agent-sighting.ts'
import type { CaRevocation, CaRevocationSummary } from '../../domain/ca-revocation.ts'
import type { Cargo, CargoContent, ContentSummary } from '../../domain/cargo.ts'
import type { Delivery } from '../../domain/delivery.ts'
import type { EnrollmentToken } from '../../domain/enrollment-token.ts'
import type { EventDebt } from '../../domain/event-budget.ts'
import type { CertificateInUse, FleetSummary } from '../../domain/fleet.ts'
import type { FleetChange } from '../../domain/fleet-change.ts'
import type { HostIndex, HostSource } from '../../domain/host-source.ts'
import type { IssuedCertificate } from '../../domain/issued-certificate.ts'
import type { RevertedDelivery, RevertedTarget } from '../../domain/reverted-target.ts'
import type { AgentTrust, RootSet, SetNumber, StandingCertificate } from '../../domain/root-set.ts'
import type {
  AgentId,
  CargoId,
  DeliveryId,
  Recipient,
  TokenHash,
} from '../../../protocol/identifiers.ts'
import type { Labels } from '../../../protocol/labels.ts'
import type { DeliveryStatus } from '../../../protocol/words.ts'
import type {
  CargoStatusCount,
  CaRevocationPage,
  DeliveryFilter,
  DeliveryPage,
  DeliveryStep,
  DeliveryWithCargo,
  FileRival,
  LateFilter,
  LateRule,
  Page,
  Step,
  StoreReader,
} from '../store.ts'
import { selectCaRevocations, summarizeCaRevocations } from './ca-revocations.ts'
import { selectReply } from './admin-replies.ts'
import {
  LIVE,
  selectCargoDeliveries,
  selectDeliveries,
  selectDeliveriesOfChange,
  selectDelivery,
  selectDeliveryWithCargo,
  selectFailed,
  selectLiveDeliveries,
  selectPredecessors,
  selectRivals,
} from './deliveries.ts'
import {
  selectCargoHistory,
  selectCargoPage,
  selectLateDeliveries,
  selectStatusPage,
} from './delivery-pages.ts'
import { selectChanges } from './fleet-changes.ts'
import { selectFirstToEnd, selectLate, selectLateAgents, summariseFleet } from './fleet-query.ts'
import { AGENT_PAGES, CARGO_PAGES, DELIVERY_PAGES, selectPage, TOKEN_PAGES } from './pages.ts'
import { countHosts, selectHosts, selectLabels, selectLastLabels } from './agent-labels.ts'
import { selectLastPolls } from './agent-polls.ts'
import { type AgentRequestsRow, type AgentRow, toAgent, toAgentRequests } from './agent-rows.ts'
import {
  type CargoRow,
  type ContentRow,
  SELECTED_CARGOES,
  toCargo,
  toContent,
} from './cargo-rows.ts'
import {
  type CertificateRow,
  type StandingCertificateRow,
  toCertificate,
  toStandingCertificate,
} from './certificate-rows.ts'
import { type AgentTrustRow, type RootSetRow, toAgentTrust, toRootSet } from './root-rows.ts'
import { selectRevertedDeliveries, selectRevertedTargets } from './reverted-targets.ts'
import { selectSightings } from './sightings.ts'
import { type TokenRow, toToken } from './token-rows.ts'
import { SqlitePortReader } from './sqlite-port-reader.ts'

const CURRENT_IDENTITIES = `
  SELECT certificados.* FROM json_each(?) AS wanted CROSS JOIN certificados
    ON certificados.seq = coalesce(
      (SELECT seq FROM certificados WHERE agente_id = wanted.value AND purpose = 'identity'
        AND first_used_at IS NOT NULL ORDER BY seq DESC LIMIT 1),
      (SELECT seq FROM certificados WHERE agente_id = wanted.value AND purpose = 'identity'
        ORDER BY seq LIMIT 1))`

/** Of each agent’s many certificates only the last few are looked at. */
const STANDING_CERTIFICATES = `
  SELECT c.agente_id, a.hostname, NULL AS nome, c.serial, c.not_after, c.raiz
  FROM json_each(@agentIds) AS wanted CROSS JOIN agentes a ON a.id = wanted.value
    CROSS JOIN certificados c ON c.agente_id = a.id AND c.purpose = 'identity'
    AND c.seq >= coalesce(a.active_identity_seq, 0)
  WHERE a.removed_at IS NULL AND a.revoked_at IS NULL AND c.revoked_at IS NULL
    AND c.not_after > @nowMs
  UNION ALL
  SELECT c.agente_id, a.hostname, cargas.nome, c.serial, c.not_after, c.raiz
  FROM json_each(@agentIds) AS wanted CROSS JOIN agentes a ON a.id = wanted.value
    CROSS JOIN entregas e ON e.agente_id = a.id
    AND e.status IN ('pendente', 'em_andamento', 'instalada', 'entregue', 'falhou')
    CROSS JOIN certificados c
    ON c.seq = (SELECT max(seq) FROM certificados WHERE entrega_id = e.id)
    CROSS JOIN cargas ON cargas.id = e.carga_id
  WHERE a.removed_at IS NULL AND a.revoked_at IS NULL AND c.revoked_at IS NULL
    AND c.not_after > @nowMs
  ORDER BY 2, 3`

interface EventDebtRow {
  bytes: number
  reserva: number
  at: number
}

export class SqliteReader extends SqlitePortReader implements StoreReader {
  async findAgents(ids: readonly AgentId[]): Promise<Agent[]> {
    const sql = `SELECT agentes.* FROM json_each(?) AS wanted
      CROSS JOIN agentes ON agentes.id = wanted.value`
    return this.session().all<AgentRow>(sql, JSON.stringify(ids)).map(toAgent)
  }

  async findAgentById(id: AgentId): Promise<Agent | undefined> {
    return map(this.session().get<AgentRow>('SELECT * FROM agentes WHERE id = ?', id), toAgent)
  }

  async findAgentByHostname(hostname: string): Promise<Agent | undefined> {
    const sql = 'SELECT * FROM agentes WHERE hostname = ? AND removed_at IS NULL'
    return map(this.session().get<AgentRow>(sql, hostname), toAgent)
  }

  async findAgentsNamed(hostnames: readonly string[]): Promise<Agent[]> {
    const sql = `SELECT agentes.* FROM json_each(?) AS wanted
      CROSS JOIN agentes ON hostname = wanted.value AND removed_at IS NULL`
    return this.session().all<AgentRow>(sql, JSON.stringify(hostnames)).map(toAgent)
  }

  async findAgentCertificate(id: AgentId): Promise<string | undefined> {
    const sql = 'SELECT cert FROM agentes_cert WHERE agente_id = ?'
    return this.session().get<{ cert: string }>(sql, id)?.cert
  }

  async listRoleAgents(role: string, { after = '', limit }: Page): Promise<Agent[]> {
    const sql = `SELECT * FROM agentes INDEXED BY agentes_por_role
      WHERE role = ? AND id > ? AND removed_at IS NULL AND revoked_at IS NULL
      ORDER BY id LIMIT ?`
    return this.session().all<AgentRow>(sql, role, after, limit).map(toAgent)
  }

  async listLastPolls(agentIds: readonly AgentId[]): Promise<ReadonlyMap<AgentId, Date>> {
    return selectLastPolls(this.session(), agentIds)
  }

  async listSightings(agentIds: readonly AgentId[]): Promise<AgentSighting[]> {
    return selectSightings(this.session(), agentIds)
  }

  async listLastLabels(agentIds: readonly AgentId[]): Promise<ReadonlyMap<AgentId, Labels>> {
    return selectLastLabels(this.session(), agentIds)
  }

  async findAgentRequests(id: AgentId): Promise<AgentRequests> {
    const sql = 'SELECT sync_at, rotate_at, rotate_after_seq FROM pedidos WHERE agente_id = ?'
    return toAgentRequests(this.session().get<AgentRequestsRow>(sql, id))
  }

  async findToken(hash: TokenHash): Promise<EnrollmentToken | undefined> {
    const sql = 'SELECT * FROM enrollment_tokens WHERE token_hash = ?'
    return map(this.session().get<TokenRow>(sql, hash), toToken)
  }

  async findOpenTokens(hostname: string, now: Date): Promise<EnrollmentToken[]> {
    const sql = `SELECT * FROM enrollment_tokens
      WHERE expected_hostname = ? AND consumed_at IS NULL AND ended_at IS NULL AND expires_at > ? ORDER BY ordem DESC`
    return this.session().all<TokenRow>(sql, hostname, now.getTime()).map(toToken)
  }

  async findTokensByPrefix(prefix: string): Promise<EnrollmentToken[]> {
    const sql = 'SELECT * FROM enrollment_tokens WHERE token_hash >= ? AND token_hash < ?'
    // `g` comes after all that hex has.
    return this.session().all<TokenRow>(sql, prefix, `${prefix}g`).map(toToken)
  }

  async findCertificate(sha256: string): Promise<IssuedCertificate | undefined> {
    const sql = 'SELECT * FROM certificados WHERE sha256 = ?'
    return map(this.session().get<CertificateRow>(sql, sha256), toCertificate)
  }

  async findIdentity(agent: Agent, sha256: string): Promise<IssuedCertificate | undefined> {
    const seq = agent.activeIdentity?.seq
    const sql = 'SELECT * FROM certificados WHERE seq = ?'
    const active = seq === undefined ? undefined : this.session().get<CertificateRow>(sql, seq)
    return active?.sha256 === sha256 ? toCertificate(active) : this.findCertificate(sha256)
  }

  async listCurrentIdentities(agentIds: readonly AgentId[]): Promise<IssuedCertificate[]> {
    const wanted = JSON.stringify(agentIds)
    return this.session().all<CertificateRow>(CURRENT_IDENTITIES, wanted).map(toCertificate)
  }

  async findNewestIdentity(
    agentId: AgentId,
    validBy?: Date,
  ): Promise<IssuedCertificate | undefined> {
    const sql = `SELECT * FROM certificados WHERE agente_id = ? AND purpose = 'identity'
      AND not_before <= ? ORDER BY seq DESC LIMIT 1`
    const byMs = validBy?.getTime() ?? Number.MAX_SAFE_INTEGER
    return map(this.session().get<CertificateRow>(sql, agentId, byMs), toCertificate)
  }

  async hasCertificateForDelivery(deliveryId: DeliveryId): Promise<boolean> {
    const sql = 'SELECT 1 FROM certificados WHERE entrega_id = ? LIMIT 1'
    return this.session().get(sql, deliveryId) !== undefined
  }

  async findRecipient(agentId: AgentId): Promise<Recipient | undefined> {
    const sql = 'SELECT recipient FROM agentes_recipient WHERE agente_id = ?'
    return this.session().get<{ recipient: Recipient }>(sql, agentId)?.recipient
  }

  async findEventDebt(agentId: AgentId): Promise<EventDebt | undefined> {
    const sql = `SELECT eventos_bytes AS bytes, eventos_reserva AS reserva, eventos_at AS at
      FROM agentes WHERE id = ? AND eventos_at IS NOT NULL`
    const row = this.session().get<EventDebtRow>(sql, agentId)
    return row && { bytes: row.bytes, reserveBytes: row.reserva, at: new Date(row.at) }
  }

  async findRootSet(): Promise<RootSet | undefined> {
    const sql = 'SELECT * FROM raizes ORDER BY epoca DESC, numero DESC LIMIT 1'
    return map(this.session().get<RootSetRow>(sql), toRootSet)
  }

  async findRootSetUpTo({ epoch, number }: SetNumber): Promise<RootSet | undefined> {
    const sql = 'SELECT * FROM raizes WHERE epoca = ? AND numero <= ? ORDER BY numero DESC LIMIT 1'
    return map(this.session().get<RootSetRow>(sql, epoch, number), toRootSet)
  }

  async listAgentTrust(agentIds: readonly AgentId[]): Promise<AgentTrust[]> {
    const sql = `SELECT agentes_raizes.* FROM json_each(?) AS wanted
      CROSS JOIN agentes_raizes ON agente_id = wanted.value`
    return this.session().all<AgentTrustRow>(sql, JSON.stringify(agentIds)).map(toAgentTrust)
  }

  async listStandingCertificates(
    agentIds: readonly AgentId[],
    now: Date,
  ): Promise<StandingCertificate[]> {
    const named = { agentIds: JSON.stringify(agentIds), nowMs: now.getTime() }
    const rows = this.session().all<StandingCertificateRow>(STANDING_CERTIFICATES, named)
    return rows.map(toStandingCertificate)
  }

  async findCargo(id: CargoId): Promise<Cargo | undefined> {
    return map(this.session().get<CargoRow>('SELECT * FROM cargas WHERE id = ?', id), toCargo)
  }

  async listCargoesNamed(name: string, limit: number): Promise<Cargo[]> {
    const sql = `SELECT * FROM cargas INDEXED BY cargas_por_nome
      WHERE nome = ? AND removed_at IS NULL ORDER BY ordem LIMIT ?`
    return this.session().all<CargoRow>(sql, name, limit).map(toCargo)
  }

  async listSelectedCargoes(): Promise<Cargo[]> {
    return this.session().all<CargoRow>(SELECTED_CARGOES).map(toCargo)
  }

  async findContent(id: CargoId): Promise<CargoContent | undefined> {
    const sql = 'SELECT sha256, escrow, conteudo, modo FROM cargas_conteudo WHERE carga_id = ?'
    return map(this.session().get<ContentRow>(sql, id), toContent)
  }

  async findContentMode(id: CargoId): Promise<number | undefined> {
    const sql = 'SELECT modo FROM cargas_conteudo WHERE carga_id = ?'
    return this.session().get<{ modo: number | null }>(sql, id)?.modo ?? undefined
  }

  async summarizeContent(id: CargoId): Promise<ContentSummary | undefined> {
    const sql = `SELECT sha256, length(conteudo) AS byteCount
      FROM cargas_conteudo WHERE carga_id = ?`
    return this.session().get<ContentSummary>(sql, id)
  }

  async findDelivery(id: DeliveryId): Promise<Delivery | undefined> {
    return selectDelivery(this.session(), id)
  }

  async listDeliveryAgents(ids: readonly DeliveryId[]): Promise<ReadonlyMap<DeliveryId, AgentId>> {
    const sql = `SELECT entregas.id, agente_id FROM json_each(?) AS wanted
      CROSS JOIN entregas ON entregas.id = wanted.value`
    const rows = this.session().all<{ id: DeliveryId; agente_id: AgentId }>(
      sql,
      JSON.stringify(ids),
    )
    return new Map(rows.map(({ id, agente_id: agent }) => [id, agent]))
  }

  async findDeliveryWithCargo(id: DeliveryId): Promise<DeliveryWithCargo | undefined> {
    return selectDeliveryWithCargo(this.session(), id)
  }

  async listDeliveries(filter: DeliveryFilter): Promise<DeliveryWithCargo[]> {
    return selectDeliveries(this.session(), filter)
  }

  async listLiveDeliveries(agentIds: readonly AgentId[]): Promise<DeliveryWithCargo[]> {
    return selectLiveDeliveries(this.session(), agentIds)
  }

  async listCargoDeliveries(id: CargoId, step: Step): Promise<DeliveryStep> {
    return selectCargoDeliveries(this.session(), id, step)
  }

  async listDeliveriesOfChange(change: number, step: Step): Promise<DeliveryStep> {
    return selectDeliveriesOfChange(this.session(), change, step)
  }

  async countStatusesOfCargoes(ids: readonly CargoId[]): Promise<CargoStatusCount[]> {
    const sql = `SELECT carga_id AS cargoId, status, total FROM json_each(?) AS wanted
      CROSS JOIN cargas_contagens ON carga_id = wanted.value WHERE total > 0`
    return this.session().all<CargoStatusCount>(sql, JSON.stringify(ids))
  }

  async countFailedDeliveries(): Promise<number> {
    const sql = `SELECT total FROM contagens WHERE tabela = 'entregas' AND estado = 'falhou'`
    return this.session().get<{ total: number }>(sql)?.total ?? 0
  }

  async countCargoDeliveries(id: CargoId): Promise<number> {
    const sql = `SELECT count(*) AS total FROM entregas INDEXED BY entregas_vivas
      WHERE carga_id = ? AND ${LIVE}`
    return this.session().get<{ total: number }>(sql, id)?.total ?? 0
  }

  async listFailedDeliveries(page: Page): Promise<DeliveryWithCargo[]> {
    return selectFailed(this.session(), page)
  }

  async listRivals(agentIds: readonly AgentId[], names: readonly string[]): Promise<FileRival[]> {
    return selectRivals(this.session(), agentIds, names)
  }

  async listRevertedTargets(deliveryIds: readonly DeliveryId[]): Promise<RevertedTarget[]> {
    return selectRevertedTargets(this.session(), deliveryIds)
  }

  async listRevertedDeliveries(limit: number): Promise<RevertedDelivery[]> {
    return selectRevertedDeliveries(this.session(), limit)
  }

  async listPredecessors(id: DeliveryId): Promise<Delivery[]> {
    return selectPredecessors(this.session(), id)
  }

  async listChanges(): Promise<FleetChange[]> {
    return selectChanges(this.session())
  }

  async summariseFleet(rule: LateRule): Promise<FleetSummary> {
    return summariseFleet(this.session(), rule)
  }

  async listLateCertificates(filter: LateFilter): Promise<CertificateInUse[]> {
    return selectLate(this.session(), filter)
  }

  async listLateAgents(
    agentIds: readonly AgentId[],
    rule: LateRule,
  ): Promise<ReadonlyMap<AgentId, Date>> {
    return selectLateAgents(this.session(), agentIds, rule)
  }

  async listLateDeliveries(ids: readonly DeliveryId[], rule: LateRule): Promise<DeliveryId[]> {
    return selectLateDeliveries(this.session(), ids, rule)
  }

  async listFirstToEnd(now: Date, limit: number): Promise<CertificateInUse[]> {
    return selectFirstToEnd(this.session(), now, limit)
  }

  async pageAgents(page: Page): Promise<Agent[] | undefined> {
    return selectPage(this.session(), AGENT_PAGES, page)
  }

  async pageTokens(page: Page): Promise<EnrollmentToken[] | undefined> {
    return selectPage(this.session(), TOKEN_PAGES, page)
  }

  async pageCargoes(page: Page): Promise<Cargo[] | undefined> {
    return selectPage(this.session(), CARGO_PAGES, page)
  }

  async pageDeliveries(page: Page): Promise<DeliveryWithCargo[] | undefined> {
    return selectPage(this.session(), DELIVERY_PAGES, page)
  }

  async pageHosts(source: HostSource, page: Page): Promise<Agent[]> {
    return selectHosts(this.session(), source, page)
  }

  async countHosts(index: HostIndex, limit: number): Promise<number> {
    return countHosts(this.session(), index, limit)
  }

  async listLabels(
    agentIds: readonly AgentId[],
    keys?: readonly string[],
  ): Promise<ReadonlyMap<AgentId, Labels>> {
    return selectLabels(this.session(), agentIds, keys)
  }

  async pageCargoDeliveries(id: CargoId, page: Page): Promise<DeliveryPage> {
    return selectCargoPage(this.session(), id, page)
  }

  async pageCargoHistory(id: CargoId, page: Page): Promise<DeliveryPage> {
    return selectCargoHistory(this.session(), id, page)
  }

  async pageStatusDeliveries(status: DeliveryStatus, page: Page): Promise<DeliveryPage> {
    return selectStatusPage(this.session(), status, page)
  }

  async findReply(id: string, now: Date): Promise<SealedReply | undefined> {
    return selectReply(this.session(), id, now)
  }

  async listCaRevocations(page: CaRevocationPage): Promise<CaRevocation[] | undefined> {
    return selectCaRevocations(this.session(), page)
  }

  async summarizeCaRevocations(
    agentIds: readonly AgentId[],
    now: Date,
  ): Promise<ReadonlyMap<AgentId, CaRevocationSummary>> {
    return summarizeCaRevocations(this.session(), agentIds, now)
  }
}

function map<Row, T>(row: Row | undefined, translate: (row: Row) => T): T | undefined {
  return row === undefined ? undefined : translate(row)
}
