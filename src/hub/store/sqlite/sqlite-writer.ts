import type { ChainEnd } from '../../../audit/chain-entries.ts'
import type { TreeNode } from '../../../audit/merkle-tree.ts'
import type { Secret } from '../../../platform/secret.ts'
import type {
  AgentId,
  CargoId,
  DeliveryId,
  Recipient,
  TokenHash,
} from '../../../protocol/identifiers.ts'
import type { DeliveryStatus } from '../../../protocol/words.ts'
import type { AccessToken } from '../../domain/access-token.ts'
import type { SealedReply } from '../../domain/admin-reply.ts'
import type { Agent } from '../../domain/agent.ts'
import type { RequestedRotation } from '../../domain/agent-requests.ts'
import type { AgentSighting } from '../../domain/agent-sighting.ts'
import type { AuditEntry } from '../../domain/audit-entry.ts'
import type { Cargo, CargoContent } from '../../domain/cargo.ts'
import type { Delivery } from '../../domain/delivery.ts'
import type { EnrollmentToken } from '../../domain/enrollment-token.ts'
import type { EventDebt } from '../../domain/event-budget.ts'
import type { FleetChange } from '../../domain/fleet-change.ts'
import type { JoinRule } from '../../domain/join-rule.ts'
import type { IssuedCertificate, NewIssuedCertificate } from '../../domain/issued-certificate.ts'
import type { LabelChange } from '../../domain/label-change.ts'
import type { LastRestore } from '../../domain/decide-take-back.ts'
import type { LogSegment } from '../../domain/log-segment.ts'
import type { LogTree } from '../../domain/log-tree.ts'
import type { OpenSigning } from '../../domain/open-signing.ts'
import type { Policy, SelectorPolicy } from '../../domain/policy.ts'
import type { RevertedTarget } from '../../domain/reverted-target.ts'
import type { AgentTrust, RootSet } from '../../domain/root-set.ts'
import type { News, Replacement, SettledDelivery, StoreWriter, UsedProof } from '../store.ts'
import { forgetCaRefusals, markCaFailing, markCaRefused, markCaRevoked } from './ca-revocations.ts'
import { insertReply } from './admin-replies.ts'
import { insertEntries, selectChainEnd } from './entries.ts'
import { deleteArchived, insertArchiveKey, insertSegment } from './log-archive.ts'
import { putLogTree } from './log-tree.ts'
import { indexOlderActs } from './entry-subjects.ts'
import { cancelDeliveries, insertDeliveries, replaceDeliveries } from './deliveries.ts'
import {
  deleteChange,
  discardPrepared,
  insertChange,
  putInForce,
  settleRemoved,
  settleReplaced,
} from './fleet-changes.ts'
import { insertAccessToken, setAccessTokenUsed, updateAccessToken } from './access-tokens.ts'
import { changeLabels } from './agent-labels.ts'
import { claimJoinProof, countJoin, insertJoinRule, updateJoinRule } from './join-rules.ts'
import { setPolls } from './agent-polls.ts'
import { fromAgent } from './agent-rows.ts'
import { fromCargo } from './cargo-rows.ts'
import { fromNewCertificate } from './certificate-rows.ts'
import { deleteOpenSigning, insertOpenSigning } from './open-signings.ts'
import { insertOwnCertificate } from './own-certificate.ts'
import { fromPolicy } from './policy-rows.ts'
import { deleteSelectorPolicy, setSelectorPolicy } from './selector-policies.ts'
import { fromAgentTrust, fromRootSet } from './root-rows.ts'
import { endExpiredTokens } from './expired-tokens.ts'
import { fromToken } from './token-rows.ts'
import { deleteRevertedTargets, putRevertedTarget } from './reverted-targets.ts'
import { putSightings } from './sightings.ts'
import { SqliteRolloutWriter } from './sqlite-rollouts.ts'
import { SqliteReader } from './sqlite-reader.ts'
import type { SqlSession } from './sql-session.ts'
import { SqliteDeclaredWriter } from './sqlite-declared.ts'
import { SqlitePasskeyWriter } from './sqlite-passkeys.ts'
import { SqliteSessionWriter } from './sqlite-sessions.ts'
import { SqliteWebhookWriter } from './sqlite-webhooks.ts'
import { TransactionMemory } from './transaction-memory.ts'
import { replaceLastRestore } from './last-restore.ts'
import { updateKeysGeneration } from './vault-keys.ts'

/** Its reads see what it wrote. */
export class SqliteWriter extends SqliteReader implements StoreWriter {
  readonly #memory: TransactionMemory
  #lastAppended: AuditEntry | undefined

  constructor(session: () => SqlSession, memory: TransactionMemory = new TransactionMemory()) {
    super(session)
    this.#memory = memory
  }

  get lastAppended(): AuditEntry | undefined {
    return this.#lastAppended
  }

  override get declared(): SqliteDeclaredWriter {
    return new SqliteDeclaredWriter(this.session)
  }

  override get passkeys(): SqlitePasskeyWriter {
    return new SqlitePasskeyWriter(this.session)
  }

  override get sessions(): SqliteSessionWriter {
    return new SqliteSessionWriter(this.session)
  }

  override get webhooks(): SqliteWebhookWriter {
    return new SqliteWebhookWriter(this.session)
  }

  override get rollouts(): SqliteRolloutWriter {
    return new SqliteRolloutWriter(this.session)
  }

  async insertAgent(agent: Agent): Promise<void> {
    const session = this.session()
    session.about(agent.id, () => session.insert('agentes', fromAgent(agent)))
  }

  async updateAgent(agent: Agent): Promise<void> {
    const session = this.session()
    session.about(agent.id, () => session.update('agentes', 'id', fromAgent(agent)))
  }

  async setAgentCertificate(id: AgentId, certificatePem: string): Promise<void> {
    const row = { agente_id: id, cert: certificatePem }
    this.#put(id, 'agentes_cert', row)
  }

  /** An agent that is gone is no error: it may have been removed since the event was accepted. */
  async setAgentSeen(id: AgentId, at: Date): Promise<void> {
    const sql = 'UPDATE agentes SET last_seen_at = ? WHERE id = ?'
    this.session().runQuietly(sql, at.getTime(), id)
  }

  async setEventDebt(id: AgentId, { bytes, reserveBytes, at }: EventDebt): Promise<void> {
    const sql = `UPDATE agentes SET eventos_bytes = ?, eventos_reserva = ?, eventos_at = ? WHERE id = ?`
    this.session().runQuietly(sql, bytes, reserveBytes, at.getTime(), id)
  }

  async setAgentsPolled(polls: ReadonlyMap<AgentId, Date>): Promise<void> {
    setPolls(this.session(), polls)
  }

  async putSightings(sightings: readonly AgentSighting[]): Promise<void> {
    putSightings(this.session(), sightings)
  }

  async changeLabels(changes: readonly LabelChange[]): Promise<void> {
    changeLabels(this.session(), changes)
  }

  async setActiveIdentity(id: AgentId, seq: number, since: Date): Promise<void> {
    const sql = 'UPDATE agentes SET active_identity_seq = ?, active_identity_since = ? WHERE id = ?'
    const session = this.session()
    session.about(id, () => session.changeOne(sql, seq, since.getTime(), id))
  }

  async requestSync(id: AgentId, at: Date): Promise<void> {
    this.#put(id, 'pedidos', { agente_id: id, sync_at: at.getTime() })
  }

  async requestRotation(id: AgentId, { at, afterSeq }: RequestedRotation): Promise<void> {
    const row = { agente_id: id, rotate_at: at.getTime(), rotate_after_seq: afterSeq }
    this.#put(id, 'pedidos', row)
  }

  async insertToken(token: EnrollmentToken): Promise<void> {
    const session = this.session()
    session.about('no agent', () => {
      session.insert('enrollment_tokens', fromToken(token))
      if (token.joinRuleId !== null) countJoin(session, token.joinRuleId)
    })
    this.#memory.tokenEnds.noteToken(token.expiresAt)
  }

  async updateToken(token: EnrollmentToken): Promise<void> {
    const session = this.session()
    const row = fromToken(token)
    session.about('no agent', () => session.update('enrollment_tokens', 'token_hash', row))
    this.#memory.tokenEnds.noteToken(token.expiresAt)
  }

  async endExpiredTokens(now: Date): Promise<void> {
    endExpiredTokens(this.session(), this.#memory.tokenEnds, now)
  }

  async insertJoinRule(rule: JoinRule): Promise<void> {
    const session = this.session()
    session.about('no agent', () => insertJoinRule(session, rule))
    this.#memory.tokenEnds.noteToken(rule.expiresAt)
  }

  async updateJoinRule(rule: JoinRule): Promise<void> {
    const session = this.session()
    session.about('no agent', () => updateJoinRule(session, rule))
    this.#memory.tokenEnds.noteToken(rule.expiresAt)
  }

  async claimJoinProof(proof: UsedProof, now: Date): Promise<void> {
    const session = this.session()
    session.about('no agent', () => claimJoinProof(session, proof, now))
  }

  async insertCertificate(certificate: NewIssuedCertificate): Promise<IssuedCertificate> {
    const session = this.session()
    // RETURNING would make a table for the one row.
    const seq = session.about(certificate.agentId, () =>
      session.insert('certificados', fromNewCertificate(certificate)),
    )
    return { ...certificate, seq, revokedAt: null, firstUsedAt: null }
  }

  async setCertificateFirstUsed(sha256: string, at: Date): Promise<void> {
    const sql = 'UPDATE certificados SET first_used_at = ? WHERE sha256 = ?'
    this.session().changeOneOfAgent(sql, at.getTime(), sha256)
  }

  async setCertificateDelivered(sha256: string, deliveryId: DeliveryId): Promise<void> {
    this.session().changeOneOfAgent(
      `UPDATE certificados SET purpose = 'delivery', entrega_id = ? WHERE sha256 = ?`,
      deliveryId,
      sha256,
    )
  }

  async revokeCertificates(agentId: AgentId, at: Date): Promise<void> {
    const sql = `UPDATE certificados SET revoked_at = ?
       WHERE agente_id = ? AND revoked_at IS NULL`
    const session = this.session()
    session.about(agentId, () => session.run(sql, at.getTime(), agentId))
  }

  async setRecipient(agentId: AgentId, recipient: Recipient | undefined): Promise<void> {
    if (recipient === undefined) {
      const sql = 'DELETE FROM agentes_recipient WHERE agente_id = ?'
      const session = this.session()
      session.about(agentId, () => session.run(sql, agentId))
    } else this.#put(agentId, 'agentes_recipient', { agente_id: agentId, recipient })
  }

  async insertRootSet(set: RootSet): Promise<void> {
    this.session().insert('raizes', fromRootSet(set))
  }

  async setAgentTrust(trust: AgentTrust): Promise<void> {
    this.#put(trust.agentId, 'agentes_raizes', fromAgentTrust(trust))
  }

  async removeAgentTrust(agentId: AgentId): Promise<void> {
    const sql = 'DELETE FROM agentes_raizes WHERE agente_id = ?'
    const session = this.session()
    session.about(agentId, () => session.run(sql, agentId))
  }

  async insertCargo(cargo: Cargo): Promise<void> {
    this.session().insert('cargas', fromCargo(cargo))
  }

  async tellOthers(news: News): Promise<void> {
    this.session().recorder?.noteNews(news)
  }

  async updateCargo(cargo: Cargo): Promise<void> {
    this.session().update('cargas', 'id', fromCargo(cargo))
  }

  async setContent(id: CargoId, content: CargoContent): Promise<void> {
    this.session().put('cargas_conteudo', 'carga_id', {
      carga_id: id,
      sha256: content.sha256,
      escrow: JSON.stringify(content.escrow),
      conteudo: content.bytes,
      modo: content.mode ?? null,
    })
  }

  async removeContent(id: CargoId): Promise<void> {
    this.session().run('DELETE FROM cargas_conteudo WHERE carga_id = ?', id)
  }

  async setPolicy(policy: Policy): Promise<void> {
    this.session().put('politicas', 'role', fromPolicy(policy))
  }

  async removePolicy(role: string): Promise<void> {
    this.session().changeOne('DELETE FROM politicas WHERE role = ?', role)
  }

  async setSelectorPolicy(policy: SelectorPolicy): Promise<void> {
    setSelectorPolicy(this.session(), policy)
  }

  async removeSelectorPolicy(name: string): Promise<void> {
    deleteSelectorPolicy(this.session(), name)
  }

  async insertDeliveries(deliveries: readonly Delivery[], change?: number): Promise<void> {
    insertDeliveries(this.session(), deliveries, change ?? null)
  }

  async replaceDeliveries(
    replacements: readonly Replacement[],
    at: Date,
    change?: number,
  ): Promise<void> {
    replaceDeliveries(this.session(), replacements, change ?? null, at)
  }

  async cancelDeliveries(ids: readonly DeliveryId[], at: Date): Promise<void> {
    cancelDeliveries(this.session(), ids, at)
  }

  async setDeliveryStatus(
    id: DeliveryId,
    status: DeliveryStatus,
    at: Date,
    error: string | null,
  ): Promise<void> {
    const sql = 'UPDATE entregas SET status = ?, updated_at = ?, erro = ? WHERE id = ?'
    this.session().changeOneOfAgent(sql, status, at.getTime(), error, id)
  }

  async putRevertedTarget(reverted: RevertedTarget): Promise<void> {
    putRevertedTarget(this.session(), reverted)
  }

  async removeRevertedTargets(deliveryId: DeliveryId, target: string | undefined): Promise<void> {
    deleteRevertedTargets(this.session(), deliveryId, target)
  }

  async insertChange(change: Omit<FleetChange, 'id'>): Promise<number> {
    return insertChange(this.session(), change)
  }

  async putInForce(id: number, at: Date): Promise<void> {
    putInForce(this.session(), id, at)
  }

  async deleteChange(id: number): Promise<void> {
    deleteChange(this.session(), id)
  }

  async settleChange(change: FleetChange, limit: number): Promise<SettledDelivery[]> {
    const settle = change.act === 'remove' ? settleRemoved : settleReplaced
    return settle(this.session(), change, limit)
  }

  async discardChange(id: number, limit: number): Promise<number> {
    return discardPrepared(this.session(), id, limit)
  }

  async useProof(jti: string, expiresAt: Date, now: Date): Promise<boolean> {
    const session = this.session()
    session.run('DELETE FROM provas_usadas WHERE expires_at <= ?', now.getTime())
    const sql = 'INSERT OR IGNORE INTO provas_usadas (jti, expires_at) VALUES (?, ?)'
    return session.run(sql, jti, expiresAt.getTime()) === 1
  }

  override async findChainEnd(): Promise<ChainEnd | undefined> {
    const session = this.session()
    this.#memory.chainEnd ??= selectChainEnd(session)
    return this.#memory.chainEnd
  }

  async insertEntries(entries: readonly AuditEntry[]): Promise<void> {
    insertEntries(this.session(), entries)
    this.#lastAppended = entries.at(-1) ?? this.#lastAppended
    this.#memory.chainEnd = entries.at(-1) ?? this.#memory.chainEnd
  }

  async putLogTree(tree: LogTree, filled: readonly TreeNode[]): Promise<void> {
    putLogTree(this.session(), tree, filled)
  }

  async insertArchiveKey(key: Secret<Buffer>): Promise<void> {
    insertArchiveKey(this.session(), key)
  }

  async insertSegment(segment: LogSegment): Promise<void> {
    insertSegment(this.session(), segment)
  }

  async removeArchived(limit: number): Promise<number> {
    return deleteArchived(this.session(), limit)
  }

  async indexOlderActs(limit: number): Promise<boolean> {
    return indexOlderActs(this.session(), limit)
  }

  async setKeysGeneration(generation: number): Promise<void> {
    updateKeysGeneration(this.session(), generation)
  }

  async setLastRestore(restore: LastRestore): Promise<void> {
    replaceLastRestore(this.session(), restore)
  }

  async insertOwnCertificate(sha256: string): Promise<void> {
    insertOwnCertificate(this.session(), sha256)
  }

  async insertOpenSigning(signing: OpenSigning): Promise<void> {
    insertOpenSigning(this.session(), signing)
  }

  async deleteOpenSigning(id: OpenSigning['id']): Promise<boolean> {
    return deleteOpenSigning(this.session(), id)
  }

  async insertAccessToken(token: AccessToken): Promise<void> {
    insertAccessToken(this.session(), token)
    this.#memory.tokenEnds.noteToken(token.expiresAt)
  }

  async updateAccessToken(token: AccessToken): Promise<void> {
    updateAccessToken(this.session(), token)
    this.#memory.tokenEnds.noteToken(token.expiresAt)
  }

  async setAccessTokenUsed(hash: TokenHash, at: Date): Promise<void> {
    setAccessTokenUsed(this.session(), hash, at)
  }

  async insertReply(reply: SealedReply, now: Date): Promise<void> {
    insertReply(this.session(), reply, now)
  }

  async setCaRevoked(sha256: string, at: Date): Promise<boolean> {
    return markCaRevoked(this.session(), sha256, at)
  }

  async setCaRefused(sha256: string, at: Date, reason: string): Promise<boolean> {
    return markCaRefused(this.session(), sha256, at, reason)
  }

  async setCaFailing(now: Date, reason: string): Promise<void> {
    markCaFailing(this.session(), now, reason)
  }

  async forgetCaRefusals(agentId: AgentId, now: Date): Promise<boolean> {
    return forgetCaRefusals(this.session(), agentId, now)
  }

  /** Of a table that has a row for an agent, or none. */
  #put(agentId: AgentId, table: string, row: object): void {
    const session = this.session()
    session.about(agentId, () => session.put(table, 'agente_id', row))
  }
}
