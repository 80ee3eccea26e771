// A call, or several, of each method that writes to the store, as reader-calls.ts has them of those that read.

import { randomUUID } from 'node:crypto'
import { newAgent, newCargo, newCertificate, newContent, newEntry } from '../store/store-samples.ts'
import type { Delivery } from '../../src/hub/domain/delivery.ts'
import type { SelectorPolicy } from '../../src/hub/domain/policy.ts'
import type { StoreReader, StoreWriter } from '../../src/hub/store/store.ts'
import type { DeclaredWriter } from '../../src/hub/store/declared-store.ts'
import type { OwnedField } from '../../src/hub/domain/plan-fleet.ts'
import type { WebhookWriter } from '../../src/hub/store/webhook-store.ts'
import type {
  DeliveryId,
  Hostname,
  JoinRuleId,
  Recipient,
  TokenHash,
} from '../../src/protocol/identifiers.ts'
import { newLogTree } from '../../src/hub/service/log-tree.ts'
import { Secret } from '../../src/platform/secret.ts'
import { chainEntries } from '../../src/audit/chain-entries.ts'
import { FILLED_AT, HEAVY, ORDINARY } from './filled-tables.ts'
import type { PortCalls } from './reader-calls.ts'
import { sampleWebhook } from './webhook-samples.ts'

const NOW = FILLED_AT
const AGENTS = [HEAVY.agentId, ORDINARY.agentId]
const CERTIFICATE = ORDINARY.certificate

const KEPT_NODE = { level: 8, index: 1_000_000, hash: Buffer.alloc(32) }
const NEXT_SEGMENT = {
  first: 30_000 * 256 + 1,
  last: 30_000 * 256 + 512,
  firstTimestamp: '1970-01-01T00:00:00.000000Z',
  lastTimestamp: '1970-01-01T00:00:00.000000Z',
  previousHash: '0'.repeat(64),
  hash: '0'.repeat(64),
  file: 'file',
  bytes: 1,
  createdAt: NOW,
}
const LAST = { seq: 1_000_000, timestamp: '', hash: '0'.repeat(64) }

const token = {
  hash: 'f'.repeat(64) as TokenHash,
  expectedHostname: HEAVY.hostname as Hostname,
  expectedRole: 'web',
  labels: new Map(),
  createdAt: NOW,
  expiresAt: NOW,
  consumedAt: null,
  isReenrollment: true,
  isOperators: false,
  mismatches: 0,
  joinRuleId: null,
  endedAt: null,
  replay: null,
}
const joinRule = {
  id: 'eeeeeeeeeeeeeeee' as JoinRuleId,
  name: 'new',
  proof: { method: 'token', tokenHash: 'e'.repeat(64) as TokenHash },
  role: 'web',
  pattern: 'web-*.example',
  hostsMax: 10,
  hosts: 0,
  labels: new Map(),
  silentMs: null,
  createdAt: NOW,
  expiresAt: NOW,
  endedAt: null,
  watch: null,
} as const
const accessToken = {
  hash: 'f'.repeat(64) as TokenHash,
  name: 'new',
  role: 'viewer',
  person: null,
  only: null,
  createdAt: NOW,
  expiresAt: NOW,
  lastUsedAt: null,
  revokedAt: null,
  endedAt: null,
} as const
const cargo = newCargo('another')
const REVERTED = {
  deliveryId: ORDINARY.deliveryId,
  agentId: ORDINARY.agentId,
  target: 'nginx.toml',
  since: NOW,
  error: 'alvo_revertido reload: exit status 1',
}
const policy = {
  role: 'role-7',
  name: 'another',
  tokenTtlSecondsMax: null,
  certTtlSeconds: null,
  permittedSans: [],
  areSansNamed: false,
  mayOperatorsReenroll: false,
  automaticCargoes: [],
}

const { role: _role, ...bounds } = policy
const selectorPolicy: SelectorPolicy = {
  ...bounds,
  selector: { terms: [{ key: 'env', values: ['prod'], isNegated: false }] },
}

function delivery(): Delivery {
  return {
    id: randomUUID() as DeliveryId,
    cargoId: HEAVY.cargoId,
    agentId: HEAVY.agentId,
    status: 'pendente',
    updatedAt: NOW,
    error: null,
    version: 1,
    sans: [],
    replacedBy: null,
  }
}

const change = {
  act: 'update',
  cargoId: HEAVY.cargoId,
  actor: 'admin',
  inForceAt: null,
} as const

export const WRITER_CALLS: PortCalls<Exclude<keyof StoreWriter, keyof StoreReader>> = {
  insertAgent: [(w) => w.insertAgent(newAgent('another'))],
  updateAgent: [
    (w) => w.updateAgent({ ...newAgent(ORDINARY.hostname), id: ORDINARY.agentId }),
    (w) => w.updateAgent({ ...newAgent(HEAVY.hostname), id: HEAVY.agentId, revokedAt: NOW }),
  ],
  setAgentCertificate: [(w) => w.setAgentCertificate(HEAVY.agentId, 'pem')],
  setAgentSeen: [(w) => w.setAgentSeen(HEAVY.agentId, NOW)],
  setEventDebt: [
    (w) => w.setEventDebt(HEAVY.agentId, { bytes: 1, reserveBytes: 0, at: NOW }),
    (w) => w.setEventDebt(ORDINARY.agentId, { bytes: 1, reserveBytes: 0, at: NOW }),
  ],
  setAgentsPolled: [(w) => w.setAgentsPolled(new Map(AGENTS.map((id) => [id, NOW])))],
  changeLabels: [
    (w) =>
      w.changeLabels(
        AGENTS.map((agentId) => ({
          agentId,
          set: new Map([
            ['env', 'stage'],
            ['new', ''],
          ]),
          removed: ['zone'],
        })),
      ),
  ],
  putSightings: [
    (w) =>
      w.putSightings(
        AGENTS.map((agentId) => ({
          agentId,
          version: '0.5.0',
          platform: 'linux-x64',
          addresses: ['192.0.2.1'],
          changedAt: NOW,
        })),
      ),
  ],
  setActiveIdentity: [(w) => w.setActiveIdentity(HEAVY.agentId, 7, NOW)],
  requestSync: [(w) => w.requestSync(HEAVY.agentId, NOW)],
  requestRotation: [(w) => w.requestRotation(HEAVY.agentId, { at: NOW, afterSeq: 1 })],
  insertToken: [(w) => w.insertToken(token)],
  updateToken: [(w) => w.updateToken({ ...token, hash: ORDINARY.tokenHash })],
  claimJoinProof: [
    (w) =>
      w.claimJoinProof(
        {
          id: '7'.padEnd(64, '0'),
          hostname: 'web-1.example.org',
          tokenHash: '8'.padEnd(64, '0') as TokenHash,
          expiresAt: NOW,
        },
        NOW,
      ),
  ],
  insertJoinRule: [(w) => w.insertJoinRule(joinRule)],
  updateJoinRule: [(w) => w.updateJoinRule({ ...joinRule, id: ORDINARY.joinRuleId })],
  endExpiredTokens: [(w) => w.endExpiredTokens(NOW)],
  insertCertificate: [(w) => w.insertCertificate(newCertificate(HEAVY.agentId))],
  setCertificateFirstUsed: [(w) => w.setCertificateFirstUsed(CERTIFICATE, NOW)],
  setCertificateDelivered: [(w) => w.setCertificateDelivered(CERTIFICATE, ORDINARY.deliveryId)],
  revokeCertificates: [
    (w) => w.revokeCertificates(HEAVY.agentId, NOW),
    (w) => w.revokeCertificates(ORDINARY.agentId, NOW),
  ],
  setRecipient: [
    (w) => w.setRecipient(HEAVY.agentId, undefined),
    (w) => w.setRecipient(HEAVY.agentId, 'age1pq1' as Recipient),
  ],
  insertRootSet: [
    (w) => w.insertRootSet({ epoch: 1, number: 1_000_000, pem: 'pem', createdAt: NOW }),
  ],
  setAgentTrust: [
    (w) =>
      w.setAgentTrust({
        agentId: HEAVY.agentId,
        number: 1,
        fingerprints: [],
        pinned: null,
        error: null,
        reportedAt: NOW,
      }),
  ],
  removeAgentTrust: [(w) => w.removeAgentTrust(HEAVY.agentId)],
  insertCargo: [(w) => w.insertCargo(cargo)],
  updateCargo: [(w) => w.updateCargo({ ...cargo, id: HEAVY.cargoId })],
  setContent: [(w) => w.setContent(HEAVY.cargoId, newContent(10))],
  removeContent: [(w) => w.removeContent(HEAVY.cargoId)],
  setPolicy: [(w) => w.setPolicy(policy)],
  removePolicy: [(w) => w.removePolicy('role-7')],
  setSelectorPolicy: [(w) => w.setSelectorPolicy(selectorPolicy)],
  removeSelectorPolicy: [(w) => w.removeSelectorPolicy('politica-7')],
  insertDeliveries: [(w) => w.insertDeliveries([delivery()]), (w) => w.insertDeliveries([], 1)],
  replaceDeliveries: [
    (w) => w.replaceDeliveries([{ old: ORDINARY.successorId, successor: delivery() }], NOW),
    (w) => w.replaceDeliveries([{ old: ORDINARY.successorId, successor: delivery() }], NOW, 1),
  ],
  cancelDeliveries: [(w) => w.cancelDeliveries([ORDINARY.successorId], NOW)],
  setDeliveryStatus: [
    (w) => w.setDeliveryStatus(ORDINARY.successorId, 'instalada', NOW, null),
    (w) => w.setDeliveryStatus(ORDINARY.deliveryId, 'substituida', NOW, null),
  ],
  putRevertedTarget: [
    (w) => w.putRevertedTarget({ ...REVERTED, target: 'new.toml' }),
    (w) => w.putRevertedTarget(REVERTED),
  ],
  removeRevertedTargets: [
    (w) => w.removeRevertedTargets(ORDINARY.deliveryId, 'nginx.toml'),
    (w) => w.removeRevertedTargets(ORDINARY.deliveryId, undefined),
  ],
  insertChange: [(w) => w.insertChange(change)],
  putInForce: [(w) => w.putInForce(1, NOW)],
  deleteChange: [(w) => w.deleteChange(1)],
  settleChange: [
    (w) => w.settleChange({ id: 1, ...change, inForceAt: NOW }, 10),
    (w) => w.settleChange({ id: 1, ...change, act: 'remove', inForceAt: NOW }, 10),
  ],
  discardChange: [(w) => w.discardChange(1, 10)],
  useProof: [(w) => w.useProof('new', NOW, NOW)],
  setKeysGeneration: [(w) => w.setKeysGeneration(2)],
  insertOwnCertificate: [(w) => w.insertOwnCertificate('0'.repeat(64))],
  tellOthers: [(w) => w.tellOthers({ agents: [HEAVY.agentId] })],
  insertOpenSigning: [
    (w) =>
      w.insertOpenSigning({
        id: randomUUID(),
        askedAt: NOW,
        hubId: null,
        tokenHash: null,
        joinRuleId: null,
        request: 'renewal',
        agentId: HEAVY.agentId,
        hostname: HEAVY.hostname,
        names: [HEAVY.hostname],
        csrSha256: '0'.repeat(64),
        keySha256: '0'.repeat(64),
      }),
  ],
  deleteOpenSigning: [(w) => w.deleteOpenSigning('000000123'.padEnd(64, '0'))],
  setLastRestore: [(w) => w.setLastRestore({ at: NOW, backupAt: NOW })],
  insertEntries: [
    (w) => w.insertEntries(chainEntries(LAST, [newEntry({ at: NOW })])),
    (w) => w.insertEntries(chainEntries(LAST, [newEntry({ at: NOW }), newEntry({ at: NOW })])),
  ],
  putLogTree: [(w) => w.putLogTree(newLogTree('vault'), [KEPT_NODE])],
  insertArchiveKey: [(w) => w.insertArchiveKey(new Secret(Buffer.alloc(32)))],
  insertSegment: [(w) => w.insertSegment(NEXT_SEGMENT)],
  removeArchived: [(w) => w.removeArchived(10)],
  indexOlderActs: [(w) => w.indexOlderActs(10)],
  setCaRevoked: [(w) => w.setCaRevoked(CERTIFICATE, NOW)],
  setCaRefused: [(w) => w.setCaRefused(CERTIFICATE, NOW, 'why')],
  setCaFailing: [(w) => w.setCaFailing(NOW, 'why')],
  forgetCaRefusals: [(w) => w.forgetCaRefusals(HEAVY.agentId, NOW)],
  insertAccessToken: [(w) => w.insertAccessToken(accessToken)],
  updateAccessToken: [
    (w) => w.updateAccessToken({ ...accessToken, hash: 'c00000001'.padEnd(64, '0') as TokenHash }),
  ],
  setAccessTokenUsed: [(w) => w.setAccessTokenUsed('c'.padEnd(64, '0') as TokenHash, NOW)],
  insertReply: [(w) => w.insertReply({ id: '0', sealed: new Uint8Array(1), expiresAt: NOW }, NOW)],
}

const { webhookId } = HEAVY
const dead = { webhookId, seq: 5, diedAt: NOW, error: 'why' }

export const WEBHOOK_CALLS: PortCalls<keyof WebhookWriter> = {
  find: [(w) => w.webhooks.find(webhookId)],
  list: [(w) => w.webhooks.list()],
  findSecret: [(w) => w.webhooks.findSecret(webhookId)],
  listDead: [(w) => w.webhooks.listDead(webhookId)],
  countDead: [(w) => w.webhooks.countDead(webhookId)],
  listDeadToReplay: [(w) => w.webhooks.listDeadToReplay(webhookId)],
  countEntriesOfType: [(w) => w.webhooks.countEntriesOfType('noted', 5, 10)],
  insert: [(w) => w.webhooks.insert(sampleWebhook(), 'secret')],
  remove: [(w) => w.webhooks.remove(webhookId)],
  setProgress: [(w) => w.webhooks.setProgress(webhookId, 1, sampleWebhook().progress)],
  setDisabled: [(w) => w.webhooks.setDisabled(webhookId, NOW)],
  restart: [(w) => w.webhooks.restart(webhookId, 5)],
  insertDead: [
    (w) => w.webhooks.insertDead(dead),
    (w) => w.webhooks.insertDead({ ...dead, seq: 0 }),
  ],
  setFilter: [(w) => w.webhooks.setFilter({ ...sampleWebhook(), id: webhookId })],
  markDeadToReplay: [(w) => w.webhooks.markDeadToReplay(webhookId)],
  removeDeadAfter: [(w) => w.webhooks.removeDeadAfter(webhookId, 5)],
  removeDead: [(w) => w.webhooks.removeDead(webhookId, 5)],
}

const OWNED: readonly OwnedField[] = ['env', 'zone'].map((field) => ({
  kind: 'agente',
  id: ORDINARY.agentId,
  name: ORDINARY.hostname,
  field,
  manager: 'default',
}))

export const DECLARED_CALLS: PortCalls<keyof DeclaredWriter> = {
  listOwnedWith: [(w) => w.declared.listOwnedWith('team-291')],
  listOwned: [(w) => w.declared.listOwned(OWNED)],
  pageOwned: [
    (w) => w.declared.pageOwned({ limit: 10 }),
    (w) => w.declared.pageOwned({ after: '20000', limit: 10 }),
  ],
  findJoinRules: [
    (w) => w.declared.findJoinRules({ names: ['heavy', 'rule-291'], ids: [ORDINARY.joinRuleId] }),
  ],
  findCargoes: [(w) => w.declared.findCargoes({ names: ['file-291'], ids: [HEAVY.cargoId] })],
  putOwned: [(w) => w.declared.putOwned(OWNED)],
  removeOwned: [(w) => w.declared.removeOwned(OWNED)],
}
