// The port to the hub's memory. Reads see only what is committed. A write function runs alone, all or nothing, and its
// promise resolves when its commit is durable; concurrent writes may share one commit. Inside a write function nothing
// but the writer may be awaited. It may run more than once, since a transaction can be lost before it is committed: only its
// last run counts, so it leaves nothing outside its writer. What is told, logged or counted comes after the commit.

import type { AccessToken, Person } from '../domain/access-token.ts'
import type { SealedReply } from '../domain/admin-reply.ts'
import type { Agent } from '../domain/agent.ts'
import type { AgentRequests, RequestedRotation } from '../domain/agent-requests.ts'
import type { ChainEnd } from '../../audit/chain-entries.ts'
import type { AgentSighting } from '../domain/agent-sighting.ts'
import type { AuditEntry } from '../domain/audit-entry.ts'
import type { LogSegment } from '../domain/log-segment.ts'
import type { LogTree } from '../domain/log-tree.ts'
import type { OpenSigning } from '../domain/open-signing.ts'
import type { NodeId, TreeNode } from '../../audit/merkle-tree.ts'
import type { CaRevocation, CaRevocationSummary } from '../domain/ca-revocation.ts'
import type { Cargo, CargoContent, ContentSummary } from '../domain/cargo.ts'
import type { Delivery } from '../domain/delivery.ts'
import type { LastRestore } from '../domain/decide-take-back.ts'
import type { EnrollmentToken } from '../domain/enrollment-token.ts'
import type { EventDebt } from '../domain/event-budget.ts'
import type { CertificateInUse, FleetSummary } from '../domain/fleet.ts'
import type { FleetChange } from '../domain/fleet-change.ts'
import type { HostIndex, HostSource } from '../domain/host-source.ts'
import type { JoinRule } from '../domain/join-rule.ts'
import type { IssuedCertificate, NewIssuedCertificate } from '../domain/issued-certificate.ts'
import type { LabelChange } from '../domain/label-change.ts'
import type { RevertedDelivery, RevertedTarget } from '../domain/reverted-target.ts'
import type { Policy, SelectorPolicy } from '../domain/policy.ts'
import type { AgentTrust, RootSet, SetNumber, StandingCertificate } from '../domain/root-set.ts'
import type {
  AgentId,
  CargoId,
  DeliveryId,
  Hostname,
  JoinRuleId,
  Recipient,
  TokenHash,
} from '../../protocol/identifiers.ts'
import type { Labels } from '../../protocol/labels.ts'
import type { DeliveryStatus } from '../../protocol/words.ts'
import type { Secret } from '../../platform/secret.ts'
import type { LeaseTerm } from './journal.ts'
import type { ListReader } from './list-store.ts'
import type { DeclaredReader, DeclaredWriter } from './declared-store.ts'
import type { PasskeyReader, PasskeyWriter } from './passkey-store.ts'
import type { SessionReader, SessionWriter } from './session-store.ts'
import type { RolloutReader, RolloutWriter } from './rollout-store.ts'
import type { SummaryReader } from './summary-store.ts'
import type { WebhookReader, WebhookWriter } from './webhook-store.ts'

export interface CargoStatusCount {
  readonly cargoId: CargoId
  readonly status: DeliveryStatus
  readonly total: number
}

export interface StoreReader extends ListReader {
  /** The agents with these ids; an unknown id is left out. */
  findAgents(ids: readonly AgentId[]): Promise<Agent[]>
  findAgentById(id: AgentId): Promise<Agent | undefined>
  /** Never a removed agent. */
  findAgentByHostname(hostname: string): Promise<Agent | undefined>
  /** The same for many; an unknown hostname is left out. */
  findAgentsNamed(hostnames: readonly string[]): Promise<Agent[]>
  /** The identity that the hub obtained last for this agent, leaf and intermediates, PEM. */
  findAgentCertificate(id: AgentId): Promise<string | undefined>

  /** Neither revoked nor removed, by id. */
  listRoleAgents(role: string, page: Page): Promise<Agent[]>

  /** When these agents last polled, as far as it is written down; nothing for an agent that never did. */
  listLastPolls(agentIds: readonly AgentId[]): Promise<ReadonlyMap<AgentId, Date>>
  /** What was written down of these hosts last. */
  listSightings(agentIds: readonly AgentId[]): Promise<AgentSighting[]>
  /** All labels of these hosts, or those of the keys; nothing for a host that has none. */
  listLabels(
    agentIds: readonly AgentId[],
    keys?: readonly string[],
  ): Promise<ReadonlyMap<AgentId, Labels>>
  /** The labels that removed hosts had last, of those that tokens and operators gave. */
  listLastLabels(agentIds: readonly AgentId[]): Promise<ReadonlyMap<AgentId, Labels>>
  /** What an operator asked of this agent last. */
  findAgentRequests(id: AgentId): Promise<AgentRequests>

  findToken(hash: TokenHash): Promise<EnrollmentToken | undefined>
  /** Neither consumed nor expired. */
  findOpenTokens(hostname: string, now: Date): Promise<EnrollmentToken[]>
  /** The tokens whose hash, in hex, begins so. */
  findTokensByPrefix(prefix: string): Promise<EnrollmentToken[]>

  findJoinRule(id: JoinRuleId): Promise<JoinRule | undefined>
  findJoinRuleByToken(hash: TokenHash): Promise<JoinRule | undefined>
  /** The newest of this name. */
  findJoinRuleNamed(name: string): Promise<JoinRule | undefined>
  /** Those that revoke silent hosts, and have hosts. */
  listWatchedJoinRules(): Promise<JoinRule[]>
  /** At most `limit`, those that end first. */
  listJoinRulesInForce(now: Date, limit: number): Promise<JoinRule[]>
  /** How many of its places are held by requests to the CA that are under way. */
  countJoinClaims(id: JoinRuleId): Promise<number>

  findCertificate(sha256: string): Promise<IssuedCertificate | undefined>
  /** The same certificate, whosever it is; sooner found when it is the active identity of this agent. */
  findIdentity(agent: Agent, sha256: string): Promise<IssuedCertificate | undefined>
  /** Of each agent the newest identity that was used, else its first one; nothing for an agent without an identity. */
  listCurrentIdentities(agentIds: readonly AgentId[]): Promise<IssuedCertificate[]>
  /** Of those, where that is given, that were valid by then. */
  findNewestIdentity(agentId: AgentId, validBy?: Date): Promise<IssuedCertificate | undefined>
  hasCertificateForDelivery(deliveryId: DeliveryId): Promise<boolean>

  /** The recipient to seal for, when this agent is to read a file. */
  findRecipient(agentId: AgentId): Promise<Recipient | undefined>
  /** Undefined for an agent that never owed anything. */
  findEventDebt(agentId: AgentId): Promise<EventDebt | undefined>

  /** The set of roots that is in force; undefined in a vault that no hub has run with. */
  findRootSet(): Promise<RootSet | undefined>
  /** The one of that number, or the last before it in its época. */
  findRootSetUpTo(number: SetNumber): Promise<RootSet | undefined>
  /** What these agents said of the roots that they trust. */
  listAgentTrust(agentIds: readonly AgentId[]): Promise<AgentTrust[]>
  /** Of the agents that are neither revoked nor removed: their identities, and the newest certificate of each live delivery. */
  listStandingCertificates(agentIds: readonly AgentId[], now: Date): Promise<StandingCertificate[]>

  findCargo(id: CargoId): Promise<Cargo | undefined>
  /** At most `limit` that are not removed, oldest first. */
  listCargoesNamed(name: string, limit: number): Promise<Cargo[]>

  /** All that belong to a selector and are not removed, oldest first. */
  listSelectedCargoes(): Promise<Cargo[]>

  findContent(id: CargoId): Promise<CargoContent | undefined>
  /** Undefined also for a content without a mode. */
  findContentMode(id: CargoId): Promise<number | undefined>
  summarizeContent(id: CargoId): Promise<ContentSummary | undefined>

  /** The policies that can hold for the role: its own, and the policy of every role. */
  findPolicies(role: string): Promise<Policy[]>
  /** By role. */
  listPolicies(): Promise<Policy[]>
  /** By name; at most SELECTOR_POLICIES_MAX. */
  listSelectorPolicies(): Promise<SelectorPolicy[]>

  findDelivery(id: DeliveryId): Promise<Delivery | undefined>
  /** Whose these deliveries are. */
  listDeliveryAgents(ids: readonly DeliveryId[]): Promise<ReadonlyMap<DeliveryId, AgentId>>
  findDeliveryWithCargo(id: DeliveryId): Promise<DeliveryWithCargo | undefined>
  /** Oldest first. */
  listDeliveries(filter: DeliveryFilter): Promise<DeliveryWithCargo[]>

  /** Of all of these agents. */
  listLiveDeliveries(agentIds: readonly AgentId[]): Promise<DeliveryWithCargo[]>
  /** The standing ones of a carga among the next `limit` live ones, oldest first. */
  listCargoDeliveries(id: CargoId, step: Step): Promise<DeliveryStep>
  /** What a change has made, oldest first. */
  listDeliveriesOfChange(change: FleetChange['id'], step: Step): Promise<DeliveryStep>
  /** Live ones. */
  countCargoDeliveries(id: CargoId): Promise<number>
  /** By carga and status: present ones, of which each host has one; none where there are none. */
  countStatusesOfCargoes(ids: readonly CargoId[]): Promise<CargoStatusCount[]>
  countFailedDeliveries(): Promise<number>
  /** Standing ones that failed, longest ago first. */
  listFailedDeliveries(page: Page): Promise<DeliveryWithCargo[]>
  /** What these agents have, or may soon have, of cargas with one of these names, which are in lower case. */
  listRivals(agentIds: readonly AgentId[], names: readonly string[]): Promise<FileRival[]>

  /** What hosts have put back of these deliveries; of each the target that was put back first comes first. */
  listRevertedTargets(deliveryIds: readonly DeliveryId[]): Promise<RevertedTarget[]>
  /** Longest ago first. */
  listRevertedDeliveries(limit: number): Promise<RevertedDelivery[]>

  /** The deliveries that this one replaces, and the deliveries that they replaced; oldest first. */
  listPredecessors(id: DeliveryId): Promise<Delivery[]>

  /** The changes that are not done: prepared, or in force and not yet written down everywhere. */
  listChanges(): Promise<FleetChange[]>

  summariseFleet(rule: LateRule): Promise<FleetSummary>
  /** The certificates that end first come first. */
  listLateCertificates(filter: LateFilter): Promise<CertificateInUse[]>
  /** The agents among them with a certificate that is late or expired, and since when they have one. */
  listLateAgents(agentIds: readonly AgentId[], rule: LateRule): Promise<ReadonlyMap<AgentId, Date>>
  /** The deliveries among them with a certificate that is late or expired. */
  listLateDeliveries(ids: readonly DeliveryId[], rule: LateRule): Promise<DeliveryId[]>
  /** The certificates that have not expired, the first to end first. */
  listFirstToEnd(now: Date, limit: number): Promise<CertificateInUse[]>

  /** What the next entry of the audit log is chained to: the last one. */
  findChainEnd(): Promise<ChainEnd | undefined>
  /** The event that an agent sent under this `request_id`. */
  findEntryByRequestId(agentId: AgentId, requestId: string): Promise<AuditEntry | undefined>
  /** The records of entries (audit/record.ts), oldest first: at most `limit` after `afterSeq`. */
  listRecords(afterSeq: number, limit: number): Promise<string[]>
  /** Oldest first, at most `limit` entries. */
  listEntries(filter: EntryFilter): Promise<AuditEntry[]>
  /** Oldest first, the newest `count` that match. */
  listLastEntries(filter: Partial<Omit<EntryFilter, 'limit'>>, count: number): Promise<AuditEntry[]>
  /** The numbers of entries that an index knows, in the order of the range. */
  listEntrySeqs(source: EntrySource, range: SeqRange): Promise<number[]>
  /** Who acted, by name, of the acts that are indexed by what they are about. */
  listActors(limit: number): Promise<string[]>
  /** In the order of the numbers. */
  findEntries(seqs: readonly number[]): Promise<AuditEntry[]>
  /** The first entry at or after this instant. */
  findFirstSeqSince(since: Date): Promise<number | undefined>
  /** From this entry on the hub's acts are found by what they are about; older ones are yet to be indexed. */
  findIndexedFrom(): Promise<number>
  /** The generation of the vault's keys that the log last spoke of; 0 when they never changed. */
  findKeysGeneration(): Promise<number>
  /** Undefined for a vault that was never restored. */
  findLastRestore(): Promise<LastRestore | undefined>
  /** Whether this SHA-256 is one of the last that were inserted. */
  isOwnCertificate(sha256: string): Promise<boolean>
  /** At most `limit` requests to the CA of which no entry says yet what came of them. */
  listOpenSignings(limit: number): Promise<OpenSigning[]>
  /** The one that will spend this token. */
  findSigningOfToken(hash: TokenHash): Promise<OpenSigning | undefined>

  /** The tree over the log; undefined before its first leaf. */
  findLogTree(): Promise<LogTree | undefined>
  /** The hashes of kept subtrees (domain/log-tree.ts) that are full, in their order. */
  listLogNodes(ids: readonly NodeId[]): Promise<Buffer[]>

  /** The first entry that the store itself has; undefined when it has none. */
  findFirstSeq(): Promise<number | undefined>
  /** The segment that has this entry; else the first one after it. */
  findSegment(seq: number): Promise<LogSegment | undefined>
  /** The first segment that ends at or after this instant. */
  findSegmentSince(since: Date): Promise<LogSegment | undefined>
  /** Up to its last entry the log is in segments; undefined when there is none. */
  findLastSegment(): Promise<LogSegment | undefined>
  /** Oldest first, those that end after this entry. */
  listSegments(afterSeq: number, limit: number): Promise<LogSegment[]>
  /** What the keys of segments are made of; undefined before the first one. */
  findArchiveKey(): Promise<Secret<Buffer> | undefined>

  readonly webhooks: WebhookReader
  readonly declared: DeclaredReader
  readonly rollouts: RolloutReader
  readonly passkeys: PasskeyReader
  readonly sessions: SessionReader
  readonly summary: SummaryReader
  /** What the CA has yet to revoke and has not expired, soonest to expire first; undefined when there is no `after`. */
  listCaRevocations(page: CaRevocationPage): Promise<CaRevocation[] | undefined>
  /** Only for agents with a certificate that is not yet revoked at the CA. */
  summarizeCaRevocations(
    agentIds: readonly AgentId[],
    now: Date,
  ): Promise<ReadonlyMap<AgentId, CaRevocationSummary>>
  /** Lists page by page, in the order of the list; undefined when there is no row `after`. */
  pageAgents(page: Page): Promise<Agent[] | undefined>
  pageTokens(page: Page): Promise<EnrollmentToken[] | undefined>
  /** At most `limit` that nobody ended, newest first. */
  listJoinRulesOfIssuer(issuer: string, limit: number): Promise<JoinRule[]>
  /** Rules in force that trust a CA or a key. */
  listJoinRulesByKey(key: string, limit: number): Promise<JoinRuleId[]>
  /** The host that something was used for, which is for one, and the token by which it was used last. */
  findJoinProof(id: string): Promise<ProofUser | undefined>
  /** Newest first. */
  pageJoinRules(page: Page): Promise<JoinRule[] | undefined>
  /** All that ever joined by the rule, oldest first, after the use of which `after` is the beginning of the hash. */
  pageJoinedHosts(id: JoinRuleId, page: Page): Promise<JoinedHost[] | undefined>
  pageCargoes(page: Page): Promise<Cargo[] | undefined>
  pageDeliveries(page: Page): Promise<DeliveryWithCargo[] | undefined>
  /** By hostname, after any agent; revoked ones too. */
  pageHosts(source: HostSource, page: Page): Promise<Agent[]>
  /** At most `limit` of them. */
  countHosts(index: HostIndex, limit: number): Promise<number>
  /** The live deliveries of a carga, oldest first. */
  pageCargoDeliveries(id: CargoId, page: Page): Promise<DeliveryPage>
  /** All that there ever were of a carga, by agent. */
  pageCargoHistory(id: CargoId, page: Page): Promise<DeliveryPage>
  /** Longest in this status first. */
  pageStatusDeliveries(status: DeliveryStatus, page: Page): Promise<DeliveryPage>
  /** Named by their roles, each of which is a place in the list. */
  pagePolicies(page: Page): Promise<Policy[] | undefined>

  findAccessToken(hash: TokenHash): Promise<AccessToken | undefined>
  /** Newest first. */
  listAccessTokens(): Promise<AccessToken[]>
  /** The same, page by page. */
  pageAccessTokens(page: Page): Promise<AccessToken[] | undefined>
  /** Of those whom an OpenID provider signed in under this name, newest first. */
  listTokensOfPeople(name: string): Promise<AccessToken[]>
  /** Under whatever name, newest first. */
  listTokensOfPerson(person: Person): Promise<AccessToken[]>
  /** Undefined when it has expired. */
  findReply(id: string, now: Date): Promise<SealedReply | undefined>
}

/** What others are told after a commit, never before; other hubs that share the vault once they have the commit too. */
export interface News {
  /** They have something new. */
  readonly agents?: readonly AgentId[]
  /** Its connections are cut, and its certificates are revoked at the CA. */
  readonly revoked?: AgentId
  /** Endpoints were made, removed or moved. */
  readonly areWebhooksChanged?: true
  readonly areRootsChanged?: true
  /** A rollout was begun, resumed or undone, or a freeze ended. */
  readonly areRolloutsChanged?: true
  /** Too many agents to name have something new. */
  readonly isForAll?: true
}

export interface StoreWriter extends StoreReader {
  readonly webhooks: WebhookWriter
  readonly declared: DeclaredWriter
  readonly rollouts: RolloutWriter
  readonly passkeys: PasskeyWriter
  readonly sessions: SessionWriter

  /** Goes with what this transaction changes to the other hubs that share the vault. */
  tellOthers(news: News): Promise<void>

  insertAgent(agent: Agent): Promise<void>
  /** Replaces everything but the id. */
  updateAgent(agent: Agent): Promise<void>
  setAgentCertificate(id: AgentId, certificatePem: string): Promise<void>
  setAgentSeen(id: AgentId, at: Date): Promise<void>
  setEventDebt(id: AgentId, debt: EventDebt): Promise<void>
  setAgentsPolled(polls: ReadonlyMap<AgentId, Date>): Promise<void>
  /** Each in place of the one that was there. */
  putSightings(sightings: readonly AgentSighting[]): Promise<void>
  changeLabels(changes: readonly LabelChange[]): Promise<void>
  setActiveIdentity(id: AgentId, seq: number, since: Date): Promise<void>

  /** In the place of an earlier request of the same kind. */
  requestSync(id: AgentId, at: Date): Promise<void>
  requestRotation(id: AgentId, rotation: RequestedRotation): Promise<void>

  /** One that was derived from a join rule counts as one more of its hosts. */
  insertToken(token: EnrollmentToken): Promise<void>
  /** Replaces everything but the hash. */
  updateToken(token: EnrollmentToken): Promise<void>
  insertJoinRule(rule: JoinRule): Promise<void>
  /** Replaces everything but the id. */
  updateJoinRule(rule: JoinRule): Promise<void>
  /** Again for the same host it is as of now, for another host it changes nothing; what has expired is forgotten. */
  claimJoinProof(proof: UsedProof, now: Date): Promise<void>
  /** Permanently ends the tokens whose time is over, admin tokens and join rules too. */
  endExpiredTokens(now: Date): Promise<void>

  insertCertificate(certificate: NewIssuedCertificate): Promise<IssuedCertificate>
  setCertificateFirstUsed(sha256: string, at: Date): Promise<void>
  /** An identity that turned out to be for a delivery. */
  setCertificateDelivered(sha256: string, deliveryId: DeliveryId): Promise<void>
  /** All certificates that the agent has now. */
  revokeCertificates(agentId: AgentId, at: Date): Promise<void>

  /** In place of the one that it had; undefined removes that. */
  setRecipient(agentId: AgentId, recipient: Recipient | undefined): Promise<void>

  insertRootSet(set: RootSet): Promise<void>
  setAgentTrust(trust: AgentTrust): Promise<void>
  removeAgentTrust(agentId: AgentId): Promise<void>

  insertCargo(cargo: Cargo): Promise<void>
  /** Replaces everything but the id. */
  updateCargo(cargo: Cargo): Promise<void>
  /** In place of the one that the cargo had. */
  setContent(id: CargoId, content: CargoContent): Promise<void>
  removeContent(id: CargoId): Promise<void>
  /** In place of the one that its role had. */
  setPolicy(policy: Policy): Promise<void>
  /** That of this very role. */
  removePolicy(role: string): Promise<void>
  /** In place of the one that had its name. */
  setSelectorPolicy(policy: SelectorPolicy): Promise<void>
  removeSelectorPolicy(name: string): Promise<void>
  /** With a change they are there when that is in force. */
  insertDeliveries(deliveries: readonly Delivery[], change?: FleetChange['id']): Promise<void>
  /** What was not on its host is over, at once or when the change is in force. */
  replaceDeliveries(
    replacements: readonly Replacement[],
    at: Date,
    change?: FleetChange['id'],
  ): Promise<void>
  /** With all that they were to replace. */
  cancelDeliveries(ids: readonly DeliveryId[], at: Date): Promise<void>
  setDeliveryStatus(
    id: DeliveryId,
    status: DeliveryStatus,
    at: Date,
    error: string | null,
  ): Promise<void>

  /** A target that is known already keeps its time; beyond REVERTED_TARGETS_MAX of a delivery nothing happens. */
  putRevertedTarget(reverted: RevertedTarget): Promise<void>
  /** Of one target, and of those without a name; undefined for all of the delivery. */
  removeRevertedTargets(deliveryId: DeliveryId, target: string | undefined): Promise<void>

  insertChange(change: Omit<FleetChange, 'id'>): Promise<FleetChange['id']>
  putInForce(id: FleetChange['id'], at: Date): Promise<void>
  /** It is done, or discarded. */
  deleteChange(id: FleetChange['id']): Promise<void>
  /** Writes down what a change in force did to at most `limit` deliveries; answers none when no delivery is left. */
  settleChange(change: FleetChange, limit: number): Promise<SettledDelivery[]>
  /** Takes back at most `limit` deliveries of a change that is not in force; how many it took. */
  discardChange(id: FleetChange['id'], limit: number): Promise<number>

  /** Whether a proof's `jti` is new; it is remembered until `expiresAt`. */
  useProof(jti: string, expiresAt: Date, now: Date): Promise<boolean>

  /** Already chained: hub/service/append-entries.ts is the way into the audit log. */
  insertEntries(entries: readonly AuditEntry[]): Promise<void>
  /** In place of the tree that was there, with each kept subtree that is full since then. */
  putLogTree(tree: LogTree, filled: readonly TreeNode[]): Promise<void>
  /** Once; the segment of the next entries. From then on `removeArchived` takes them. */
  insertArchiveKey(key: Secret<Buffer>): Promise<void>
  insertSegment(segment: LogSegment): Promise<void>
  /** Removes at most `limit` entries that a segment has, the oldest first; how many it removed. */
  removeArchived(limit: number): Promise<number>
  /** Indexes the next `limit` older acts of the hub by what they are about; whether any are left. */
  indexOlderActs(limit: number): Promise<boolean>
  setKeysGeneration(generation: number): Promise<void>
  setLastRestore(restore: LastRestore): Promise<void>
  /** That the log names this certificate of the hub itself. */
  insertOwnCertificate(sha256: string): Promise<void>
  insertOpenSigning(signing: OpenSigning): Promise<void>
  /** Whether it was there. */
  deleteOpenSigning(id: OpenSigning['id']): Promise<boolean>

  /** Whether it was yet to be revoked there. */
  setCaRevoked(sha256: string, at: Date): Promise<boolean>
  /** Whether it was yet to be revoked there, and not refused. */
  setCaRefused(sha256: string, at: Date, reason: string): Promise<boolean>
  /** Notes why the waiting revocations are not done. */
  setCaFailing(now: Date, reason: string): Promise<void>
  /** What the CA refused waits again; whether there was any. */
  forgetCaRefusals(agentId: AgentId, now: Date): Promise<boolean>
  insertAccessToken(token: AccessToken): Promise<void>
  /** Replaces everything but the hash. */
  updateAccessToken(token: AccessToken): Promise<void>
  setAccessTokenUsed(hash: TokenHash, at: Date): Promise<void>
  insertReply(reply: SealedReply, now: Date): Promise<void>
}

export interface Store {
  readonly reader: StoreReader
  /**
   * Another number whenever a commit may have changed what the reader sees, apart from what changes all the time: the log, when
   * agents were heard of, what their events cost, and how far webhooks are.
   */
  readonly version: number
  /**
   * The `version` since which no commit has changed what authentication and manifest of this agent read: what was read at a
   * version is still so while this is not greater.
   */
  versionOf(id: AgentId): number
  /** With company, it may be committed a few milliseconds later, together with what is expected. */
  write<T>(work: (writer: StoreWriter) => Promise<T>, company?: WriteCompany): Promise<T>
  close(): Promise<void>
}

export interface WriteCompany {
  /** Whether other writes are about to come that may be committed together with this one. */
  readonly isExpected: () => boolean
  /** It counts only while this hub has the lease; else it is refused with `lease_lost`. */
  readonly lease?: LeaseTerm
  /** It is one of many on end that change rows all over the store, and a crash of the machine may undo it. */
  readonly isInPassing?: true
}

/** At most `limit` rows: after the row with the id `after`, or from the first on. */
export interface Page {
  readonly after?: string | undefined
  readonly limit: number
}

export interface DeliveryFilter {
  readonly agentId: AgentId
  readonly cargoId?: CargoId
  readonly statuses?: readonly DeliveryStatus[]
}

/** What is late is for hub/domain/late-renewal.ts to say. */
export interface LateRule {
  readonly now: Date
  readonly thresholdMs: number
}

export interface LateFilter extends LateRule {
  /** Only certificates that became late after this instant. */
  readonly since?: Date
  readonly limit: number
}

export interface DeliveryWithCargo extends Delivery {
  readonly cargo: Cargo
  readonly hostname: Hostname
}

/** A part of a long walk. */
export interface Step {
  /** The `next` of the step before. */
  readonly after?: number | undefined
  readonly limit: number
}

export interface DeliveryStep {
  readonly deliveries: readonly DeliveryWithCargo[]
  /** Null at the end. */
  readonly next: number | null
}

export interface DeliveryPage {
  /** May be fewer than there were places: a change under way hides some. */
  readonly deliveries: readonly DeliveryWithCargo[]
  /** What the next page starts after; null at the end. */
  readonly next: DeliveryId | null
}

export interface Replacement {
  readonly old: DeliveryId
  readonly successor: Delivery
}

/** The token of a workload, which is for one host. */
export interface ProofUser {
  readonly hostname: string
  /** Derived for the host from the token of a join rule. */
  readonly tokenHash: TokenHash
}

export interface UsedProof extends ProofUser {
  readonly id: string
  /** No claim is kept longer. */
  readonly expiresAt: Date
}

/** The use of a join rule by one host. */
export interface JoinedHost {
  /** Of the token that was derived for the host. */
  readonly tokenHash: TokenHash
  readonly hostname: Hostname
  readonly joinedAt: Date
  /** Null for a host that was removed since, or enrolled by another token. */
  readonly agentId: AgentId | null
  readonly lastSeenAt: Date | null
  readonly lastPollAt: Date | null
  readonly revokedAt: Date | null
}

/** A delivery that writes files of the name that was asked for. */
export interface FileRival {
  readonly agentId: AgentId
  readonly kind: Cargo['kind']
  readonly name: Cargo['name']
}

/** What a change did to one delivery. */
export type SettledDelivery = Pick<Delivery, 'id' | 'agentId' | 'cargoId' | 'replacedBy'>

export interface CaRevocationPage {
  readonly now: Date
  /** Only what comes after the certificate with this SHA-256. */
  readonly after?: string | undefined
  readonly limit: number
  /** Also certificates that the CA refused to revoke. */
  readonly isRefusedIncluded: boolean
}

export interface EntryFilter {
  readonly afterSeq: number
  readonly beforeSeq?: number | undefined
  readonly limit: number
  readonly eventType?: string
}

/** Entries that one agent sent, of one type, or acts of the hub that are about one thing (domain/entry-subject.ts). */
export type EntrySource =
  | { readonly by: 'sender' | 'type' | 'subject'; readonly value: string }
  /** All that is no routine. */
  | { readonly by: 'notable' }

export interface SeqRange {
  readonly afterSeq: number
  readonly beforeSeq?: number | undefined
  readonly isNewestFirst: boolean
  readonly limit: number
}
