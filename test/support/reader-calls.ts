// A call, or several, of each method that reads the store, on the tables of filled-tables.ts: for the test that no query
// is forgotten. The compiler asks for one when the port gets a method.

import type { StoreReader, StoreWriter } from '../../src/hub/store/store.ts'
import type { HostIndex, HostSource } from '../../src/hub/domain/host-source.ts'
import { CERTIFICATE_STATES } from '../../src/protocol/admin/certificados.ts'
import type { TokenHash } from '../../src/protocol/identifiers.ts'
import type { DeliveryStatus } from '../../src/protocol/words.ts'
import { FILLED_AT, HEAVY, ORDINARY } from './filled-tables.ts'

export type PortCall = (writer: StoreWriter) => Promise<unknown>
export type PortCalls<Method extends string> = Readonly<Record<Method, readonly PortCall[]>>

/** Why a method may walk through a whole table, or answer as much as there is. */
export const UNBOUNDED: Readonly<Record<string, string>> = {
  countCargoDeliveries: 'a range of an index: 3 ms for 100,000; once for an act on all of them',
  countWaves:
    'a range of an index: 20 ms for 100,000; a hub asks when something was committed, at most every two seconds',
  listPolicies: 'a politica for each role, written by hand',
  listSelectorPolicies: 'politicas with selectors: 100 at most',
  listAccessTokens: 'admin tokens, made by hand',
  list: 'webhooks: 100 at most; sessions: 2,000, asked for when somebody signs in or lists them; passkeys: ten a person, made by hand',
  removeAll: 'sessions: as list; once for a restore',
  listDead: 'the newest 1,000 of a webhook',
  countDead: 'as listDead',
  listDeadToReplay: 'as listDead',
  remove: 'a webhook with its dead messages: as listDead',
  markDeadToReplay: 'as listDead',
  removeDeadAfter: 'as listDead',
  groupFailures: 'the newest 1,000 entregas that failed',
}

const NOW = FILLED_AT
const RULE = { now: NOW, thresholdMs: 1000 }
const LIVE: readonly DeliveryStatus[] = [
  'pendente',
  'em_andamento',
  'instalada',
  'entregue',
  'falhou',
]
const AGENTS = [HEAVY.agentId, ORDINARY.agentId]
const ENTRY_SELECTIONS = [{}, { eventType: 'noted' }]
const ENTRY_SOURCES = [
  { by: 'sender', value: ORDINARY.agentId },
  { by: 'sender', value: HEAVY.agentId },
  { by: 'type', value: 'noted' },
  { by: 'subject', value: ORDINARY.agentId },
  { by: 'subject', value: HEAVY.agentId },
  { by: 'subject', value: 'ator:hub' },
  { by: 'notable' },
] as const
/** Each host is of the first three, and only the ordinary one of the last two. */
const HOST_INDEXES: readonly HostIndex[] = [
  { by: 'role', role: 'web' },
  { by: 'label', key: 'env', value: 'prod' },
  { by: 'label', key: 'zone', value: undefined },
  { by: 'label', key: 'canary', value: undefined },
  { by: 'name', hostname: ORDINARY.hostname },
]
const HOST_SOURCES: readonly HostSource[] = [{ by: 'all' }, ...HOST_INDEXES]
const PAGES = [{ limit: 10 }]

export const READER_CALLS: PortCalls<
  Exclude<
    keyof StoreReader,
    'webhooks' | 'declared' | 'rollouts' | 'passkeys' | 'sessions' | 'summary'
  >
> = {
  findAgentById: [(w) => w.findAgentById(HEAVY.agentId)],
  findAgentByHostname: [(w) => w.findAgentByHostname(HEAVY.hostname)],
  findAgentsNamed: [(w) => w.findAgentsNamed([HEAVY.hostname, ORDINARY.hostname])],
  listLastLabels: [(w) => w.listLastLabels(AGENTS)],
  listDeliveryAgents: [(w) => w.listDeliveryAgents([ORDINARY.deliveryId])],
  findAgentCertificate: [(w) => w.findAgentCertificate(HEAVY.agentId)],
  findAgents: [(w) => w.findAgents(AGENTS)],
  listRoleAgents: [(w) => w.listRoleAgents('web', { after: ORDINARY.agentId, limit: 10 })],
  listLastPolls: [(w) => w.listLastPolls(AGENTS)],
  listSightings: [(w) => w.listSightings(AGENTS)],
  findAgentRequests: [(w) => w.findAgentRequests(HEAVY.agentId)],
  findToken: [(w) => w.findToken(ORDINARY.tokenHash)],
  findOpenTokens: [
    (w) => w.findOpenTokens(HEAVY.hostname, NOW),
    (w) => w.findOpenTokens(ORDINARY.hostname, NOW),
  ],
  findJoinRule: [(w) => w.findJoinRule(ORDINARY.joinRuleId)],
  findJoinRuleByToken: [(w) => w.findJoinRuleByToken('800000123'.padEnd(64, '0') as TokenHash)],
  findJoinRuleNamed: [(w) => w.findJoinRuleNamed('rule-291')],
  listWatchedJoinRules: [(w) => w.listWatchedJoinRules()],
  listJoinRulesInForce: [(w) => w.listJoinRulesInForce(FILLED_AT, 10)],
  listJoinRulesOfIssuer: [(w) => w.listJoinRulesOfIssuer('https://issuer.example', 50)],
  listJoinRulesByKey: [(w) => w.listJoinRulesByKey(`x5c:${'7'.repeat(64)}`, 50)],
  findJoinProof: [(w) => w.findJoinProof('7'.padEnd(64, '0'))],
  countJoinClaims: [(w) => w.countJoinClaims(ORDINARY.joinRuleId)],
  pageJoinRules: [...PAGES, { after: ORDINARY.joinRuleId, limit: 10 }].map(
    (page) => (w) => w.pageJoinRules(page),
  ),
  pageJoinedHosts: [...PAGES, { after: 'd00000123'.padEnd(16, '0'), limit: 10 }].flatMap((page) => [
    (w) => w.pageJoinedHosts(HEAVY.joinRuleId, page),
  ]),
  findTokensByPrefix: [(w) => w.findTokensByPrefix(ORDINARY.tokenHash.slice(0, 16))],
  findCertificate: [(w) => w.findCertificate(ORDINARY.certificate)],
  findIdentity: [
    async (w) => {
      const agent = await w.findAgentById(ORDINARY.agentId)
      if (agent !== undefined) await w.findIdentity(agent, ORDINARY.certificate)
    },
  ],
  listCurrentIdentities: [(w) => w.listCurrentIdentities(AGENTS)],
  findNewestIdentity: [
    (w) => w.findNewestIdentity(HEAVY.agentId),
    (w) => w.findNewestIdentity(HEAVY.agentId, NOW),
  ],
  hasCertificateForDelivery: [(w) => w.hasCertificateForDelivery(ORDINARY.deliveryId)],
  findRecipient: [(w) => w.findRecipient(HEAVY.agentId)],
  findEventDebt: [(w) => w.findEventDebt(HEAVY.agentId)],
  findRootSet: [(w) => w.findRootSet()],
  findRootSetUpTo: [(w) => w.findRootSetUpTo({ epoch: 1, number: 100 })],
  listAgentTrust: [(w) => w.listAgentTrust(AGENTS)],
  listStandingCertificates: [(w) => w.listStandingCertificates(AGENTS, NOW)],
  findCargo: [(w) => w.findCargo(HEAVY.cargoId)],
  findContent: [(w) => w.findContent(HEAVY.cargoId)],
  findContentMode: [(w) => w.findContentMode(HEAVY.cargoId)],
  summarizeContent: [(w) => w.summarizeContent(HEAVY.cargoId)],
  findPolicies: [(w) => w.findPolicies('role-7')],
  listPolicies: [(w) => w.listPolicies()],
  listSelectorPolicies: [(w) => w.listSelectorPolicies()],
  findDelivery: [(w) => w.findDelivery(ORDINARY.deliveryId)],
  listDeliveries: [
    (w) => w.listDeliveries({ agentId: ORDINARY.agentId, statuses: LIVE }),
    (w) => w.listDeliveries({ agentId: HEAVY.agentId, statuses: LIVE }),
    (w) => w.listDeliveries({ agentId: HEAVY.agentId, statuses: ['pendente'] }),
    (w) => w.listDeliveries({ agentId: HEAVY.agentId, cargoId: ORDINARY.cargoId, statuses: LIVE }),
    (w) => w.listDeliveries({ agentId: ORDINARY.agentId, cargoId: HEAVY.cargoId, statuses: LIVE }),
    (w) => w.listDeliveries({ agentId: ORDINARY.agentId }),
  ],
  findDeliveryWithCargo: [(w) => w.findDeliveryWithCargo(ORDINARY.deliveryId)],
  listLiveDeliveries: [(w) => w.listLiveDeliveries(AGENTS)],
  listCargoDeliveries: [
    (w) => w.listCargoDeliveries(HEAVY.cargoId, { limit: 10 }),
    (w) => w.listCargoDeliveries(HEAVY.cargoId, { after: 40_000, limit: 10 }),
    (w) => w.listCargoDeliveries(ORDINARY.cargoId, { limit: 10 }),
  ],
  listDeliveriesOfChange: [(w) => w.listDeliveriesOfChange(1, { limit: 10 })],
  countStatusesOfCargoes: [(w) => w.countStatusesOfCargoes([HEAVY.cargoId])],
  countCargoDeliveries: [(w) => w.countCargoDeliveries(HEAVY.cargoId)],
  countFailedDeliveries: [(w) => w.countFailedDeliveries()],
  listFailedDeliveries: [
    (w) => w.listFailedDeliveries({ limit: 10 }),
    (w) => w.listFailedDeliveries({ after: ORDINARY.deliveryId, limit: 10 }),
  ],
  listRivals: [(w) => w.listRivals(AGENTS, ['file-1'])],
  listChanges: [(w) => w.listChanges()],
  listRevertedTargets: [(w) => w.listRevertedTargets([ORDINARY.deliveryId, ORDINARY.successorId])],
  listRevertedDeliveries: [(w) => w.listRevertedDeliveries(10)],
  listPredecessors: [
    (w) => w.listPredecessors(ORDINARY.successorId),
    (w) => w.listPredecessors(ORDINARY.deliveryId),
  ],
  summariseFleet: [(w) => w.summariseFleet(RULE)],
  listLateCertificates: [
    (w) => w.listLateCertificates({ ...RULE, limit: 5 }),
    (w) => w.listLateCertificates({ ...RULE, now: new Date(9_000_000), limit: 5 }),
  ],
  listLateAgents: [(w) => w.listLateAgents(AGENTS, RULE)],
  pageCertificatesInUse: [
    { limit: 10 },
    { limit: 10, after: ORDINARY.certificate },
    { limit: 10, agentId: ORDINARY.agentId },
    { limit: 10, agentId: HEAVY.agentId },
    ...CERTIFICATE_STATES.map((state) => ({ limit: 10, state })),
    { limit: 10, endsBefore: NOW },
  ].map((page) => (w) => w.pageCertificatesInUse({ ...RULE, ...page })),
  listFirstOfAgents: [(w) => w.listFirstOfAgents([ORDINARY.agentId])],
  countCertificatesInUse: [
    {},
    { agentId: HEAVY.agentId },
    { endsBefore: NOW },
    ...CERTIFICATE_STATES.map((state) => ({ state })),
  ].map((selection) => (w) => w.countCertificatesInUse({ ...RULE, ...selection }, 10)),
  listCargoesByPrefix: [(w) => w.listCargoesByPrefix('file-7', 5)],
  listCertificatesBySerial: [(w) => w.listCertificatesBySerial('01', 5)],
  listSeqsOfRequest: [(w) => w.listSeqsOfRequest('r291', 5)],
  searchNames: HOST_SOURCES.flatMap((source) =>
    [false, true].map(
      (isCounted): PortCall =>
        (w) =>
          w.searchNames({ source, text: '29', after: 'host-1', looked: 100, isCounted }),
    ),
  ),
  pageHostsByEnd: HOST_SOURCES.flatMap((source) =>
    [{ limit: 10 }, { limit: 10, after: ORDINARY.certificate }, { limit: 10, until: NOW }].map(
      (page): PortCall =>
        (w) =>
          w.pageHostsByEnd({ source, ...page }),
    ),
  ),
  pageHostsByEnrolment: HOST_SOURCES.flatMap((source) =>
    [...PAGES, { after: ORDINARY.agentId, limit: 10 }].map(
      (page): PortCall =>
        (w) =>
          w.pageHostsByEnrolment({ source, ...page }),
    ),
  ),
  listLateIds: [
    (w) => w.listLateIds(RULE, 10),
    (w) => w.listLateIds({ ...RULE, now: new Date(9_000_000) }, 10),
  ],
  listRevokedIds: [(w) => w.listRevokedIds(10)],
  countAgents: [(w) => w.countAgents()],
  listFirstToEnd: [(w) => w.listFirstToEnd(NOW, 5)],
  findChainEnd: [(w) => w.findChainEnd()],
  findEntryByRequestId: [(w) => w.findEntryByRequestId(ORDINARY.agentId, 'r291')],
  listRecords: [(w) => w.listRecords(20_000, 10)],
  listEntries: ENTRY_SELECTIONS.map(
    (selection) => (w) => w.listEntries({ ...selection, afterSeq: 5, limit: 10 }),
  ),
  listLastEntries: ENTRY_SELECTIONS.flatMap((selection) => [
    (w) => w.listLastEntries(selection, 10),
    (w) => w.listLastEntries({ ...selection, beforeSeq: 20_000 }, 10),
  ]),
  listEntrySeqs: ENTRY_SOURCES.flatMap((source) => [
    (w) => w.listEntrySeqs(source, { afterSeq: 5, isNewestFirst: false, limit: 10 }),
    (w) =>
      w.listEntrySeqs(source, { afterSeq: 5, beforeSeq: 70_000, isNewestFirst: true, limit: 10 }),
  ]),
  listActors: [(w) => w.listActors(10)],
  findEntries: [(w) => w.findEntries([20_000, 40_000])],
  findFirstSeqSince: [(w) => w.findFirstSeqSince(NOW), (w) => w.findFirstSeqSince(new Date(0))],
  findFirstSeq: [(w) => w.findFirstSeq()],
  findSegment: [(w) => w.findSegment(20_000)],
  findSegmentSince: [(w) => w.findSegmentSince(NOW), (w) => w.findSegmentSince(new Date(0))],
  findLastSegment: [(w) => w.findLastSegment()],
  listSegments: [(w) => w.listSegments(20_000, 10)],
  findArchiveKey: [(w) => w.findArchiveKey()],
  findIndexedFrom: [(w) => w.findIndexedFrom()],
  findLogTree: [(w) => w.findLogTree()],
  listLogNodes: [
    (w) =>
      w.listLogNodes([
        { level: 8, index: 3 },
        { level: 9, index: 40 },
      ]),
  ],
  findKeysGeneration: [(w) => w.findKeysGeneration()],
  isOwnCertificate: [(w) => w.isOwnCertificate('0'.repeat(64))],
  findSigningOfToken: [(w) => w.findSigningOfToken('0'.repeat(64) as TokenHash)],
  listOpenSignings: [(w) => w.listOpenSignings(10)],
  findLastRestore: [(w) => w.findLastRestore()],
  listCaRevocations: [
    (w) => w.listCaRevocations({ now: NOW, limit: 10, isRefusedIncluded: false }),
    (w) =>
      w.listCaRevocations({
        now: NOW,
        limit: 10,
        isRefusedIncluded: true,
        after: ORDINARY.certificate,
      }),
  ],
  summarizeCaRevocations: [(w) => w.summarizeCaRevocations(AGENTS, NOW)],
  pageAgents: [...PAGES, { after: ORDINARY.agentId, limit: 10 }].map(
    (page) => (w) => w.pageAgents(page),
  ),
  pageTokens: [...PAGES, { after: ORDINARY.tokenHash.slice(0, 16), limit: 10 }].map(
    (page) => (w) => w.pageTokens(page),
  ),
  pageCargoes: [...PAGES, { after: ORDINARY.cargoId, limit: 10 }].map(
    (page) => (w) => w.pageCargoes(page),
  ),
  pageDeliveries: [...PAGES, { after: ORDINARY.deliveryId, limit: 10 }].map(
    (page) => (w) => w.pageDeliveries(page),
  ),
  listLabels: [(w) => w.listLabels(AGENTS), (w) => w.listLabels(AGENTS, ['zone'])],
  pageHosts: HOST_SOURCES.flatMap((source) =>
    [...PAGES, { after: ORDINARY.agentId, limit: 10 }].map(
      (page): PortCall =>
        (w) =>
          w.pageHosts(source, page),
    ),
  ),
  countHosts: HOST_INDEXES.map((index) => (w) => w.countHosts(index, 10)),
  pageCargoDeliveries: [...PAGES, { after: ORDINARY.deliveryId, limit: 10 }].map(
    (page) => (w) => w.pageCargoDeliveries(HEAVY.cargoId, page),
  ),
  pageCargoHistory: [...PAGES, { after: ORDINARY.deliveryId, limit: 10 }].map(
    (page) => (w) => w.pageCargoHistory(HEAVY.cargoId, page),
  ),
  pageStatusDeliveries: [...PAGES, { after: ORDINARY.deliveryId, limit: 10 }].map(
    (page) => (w) => w.pageStatusDeliveries('falhou', page),
  ),
  listLateDeliveries: [(w) => w.listLateDeliveries([ORDINARY.deliveryId], RULE)],
  listSelectedCargoes: [(w) => w.listSelectedCargoes()],
  listCargoesNamed: [(w) => w.listCargoesNamed('file-7', 5)],
  pagePolicies: [...PAGES, { after: 'role-7', limit: 10 }].map(
    (page) => (w) => w.pagePolicies(page),
  ),
  findAccessToken: [(w) => w.findAccessToken('c'.padEnd(64, '0') as TokenHash)],
  listAccessTokens: [(w) => w.listAccessTokens()],
  pageAccessTokens: [...PAGES, { after: 'c'.padEnd(16, '0'), limit: 10 }].map(
    (page) => (w) => w.pageAccessTokens(page),
  ),
  listTokensOfPeople: [(w) => w.listTokensOfPeople('alice@example.org')],
  listTokensOfPerson: [
    (w) => w.listTokensOfPerson({ issuer: 'https://sso.example.org', subject: '7' }),
  ],
  findReply: [(w) => w.findReply('d'.padEnd(64, '0'), NOW)],
}
