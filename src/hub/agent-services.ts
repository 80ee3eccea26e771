// What agents ask a hub for, whatever carries their requests.

import type { AgentId } from '../protocol/identifiers.ts'
import type { Clock } from '../platform/clock.ts'
import type { Logging } from '../platform/logger.ts'
import { createTokenBuckets, type TokenBuckets } from '../platform/token-bucket.ts'
import type { BundleReplyBody, EnrollReplyBody } from '../protocol/schemas.ts'
import type { CertificateAuthority } from './ca/certificate-authority.ts'
import type { HubConfig } from './config.ts'
import type { EventOverdraft, EventRoom } from './domain/event-budget.ts'
import { type AgentStreams, createAgentStreams } from './http/agent-streams.ts'
import { type AgentSightings, createAgentSightings } from './service/agent/agent-sightings.ts'
import {
  type AuthenticateAgent,
  createAuthenticateAgent,
} from './service/agent/authenticate-agent.ts'
import { countSignings } from './service/agent/count-signings.ts'
import { createJoinRefusals } from './service/agent/join-refusals.ts'
import { createLeakedTokens, type LeakedTokens } from './service/agent/end-leaked-token.ts'
import { createEnrollAgent, type EnrollAgent } from './service/agent/enroll-agent.ts'
import { createEventBudget } from './service/agent/event-budget.ts'
import { createFindBlob, type FindBlob } from './service/agent/find-blob.ts'
import { createIdentityReceipts, type IdentityReceipts } from './service/agent/identity-receipts.ts'
import { createIssueCertificate, type IssueCertificate } from './service/agent/issue-certificate.ts'
import { createListManifest, type ListManifest } from './service/agent/list-manifest.ts'
import { createReadAgentNews } from './service/agent/read-agent-news.ts'
import { createRecordEvent, type RecordEvent } from './service/agent/record-event.ts'
import type { PollRecorder } from './service/agent/record-polls.ts'
import { createGiveSelected } from './service/cargo/give-selected.ts'
import { createRecordRecipient, type RecordRecipient } from './service/agent/record-recipient.ts'
import { createRecoverIdentity, type RecoverIdentity } from './service/agent/recover-identity.ts'
import { type ChallengeTpm, createChallengeTpm } from './service/agent/tpm-challenges.ts'
import type { ShownLog } from './service/agent/show-log.ts'
import type { LastRestore } from './domain/decide-take-back.ts'
import { hashToken } from './domain/hash-token.ts'
import type { IssuerKeys } from './domain/issuer-keys.ts'
import type { LogTree } from './domain/log-tree.ts'
import type { AgentRefusals } from './service/agent-refusals.ts'
import type { WaitingReasons } from './service/waiting-reasons.ts'
import type { Agent } from './domain/agent.ts'
import type { JoinRefusalReason } from './domain/join-rule.ts'
import type { Store } from './store/store.ts'

/** A host that comes back after an outage has much to renew at once. */
const ISSUE_BURST_SECONDS = 300

export interface AgentServicesDependencies {
  readonly config: Pick<HubConfig, 'identityMatch' | 'serverNames' | 'recoveryGraceMs' | 'limits'>
  readonly store: Store
  /** Of one of several that share the vault. */
  readonly hubId?: string | undefined
  readonly authority: CertificateAuthority
  readonly issuerKeys: IssuerKeys
  readonly clock: Clock
  readonly logging: Logging
  readonly polls: PollRecorder
  /** The roots that are trusted now. */
  readonly bundle: () => BundleReplyBody
  /** Those that the agent is offered. */
  readonly offerRoots: (agent: Agent) => Promise<BundleReplyBody>
  readonly auditLog: ShownLog
  readonly newestTree: () => LogTree | undefined
  /** When the vault was restored last. */
  readonly restore: LastRestore | undefined
  /** Who signs them, where somebody does. */
  readonly enrolmentTrust: () => Promise<EnrolmentTrust>
  readonly waiting?: WaitingReasons | undefined
  readonly refusals?: AgentRefusals | undefined
  /** What room there is for events; everything else is stored until the disk is full. */
  readonly findEventRoom: () => Promise<EventRoom>
  readonly onOverdraft?: ((overdraft: EventOverdraft) => void) | undefined
  readonly onJoinRefused?: ((reason: JoinRefusalReason) => void) | undefined
  readonly onPresence?: ((agentId: AgentId) => void) | undefined
}

type EnrolmentTrust = Pick<EnrollReplyBody, 'trust_key' | 'signed'>

export interface AgentServices {
  readonly authenticateAgent: AuthenticateAgent
  readonly enrollAgent: EnrollAgent
  readonly isKnownToken: (token: string) => Promise<boolean>
  readonly leakedTokens: LeakedTokens
  readonly challengeTpm: ChallengeTpm
  readonly recoverIdentity: RecoverIdentity
  readonly issueCertificate: IssueCertificate
  /** An agent has one rate, whichever way it asks. */
  readonly issueRates: TokenBuckets
  readonly listManifest: ListManifest
  readonly recordEvent: RecordEvent
  readonly recordRecipient: RecordRecipient
  readonly findBlob: FindBlob
  readonly streams: AgentStreams
  readonly sightings: AgentSightings
  readonly refusals: AgentRefusals | undefined
  readonly bundle: () => BundleReplyBody
  readonly offerRoots: (agent: Agent) => Promise<BundleReplyBody>
  readonly auditLog: ShownLog
  readonly receipts: IdentityReceipts
  readonly enrolmentTrust: () => Promise<EnrolmentTrust>
}

export function createAgentServices(dependencies: AgentServicesDependencies): AgentServices {
  const { config, store, clock, logging, polls, hubId } = dependencies
  const { authority, company } = countSignings(dependencies.authority)
  const { identityMatch, serverNames: hubNames, limits } = config
  const log = logging.forModule('hub.mtls')
  const enrollLog = logging.forModule('hub.enroll')
  const issueRates = createTokenBuckets({
    perSecond: limits.issuesPerSecond,
    burst: limits.issuesPerSecond * ISSUE_BURST_SECONDS,
    now: () => clock.now(),
  })
  const eventBudget = createEventBudget({
    store,
    clock,
    bytesPerDay: limits.eventBytesPerDay,
    findRoom: dependencies.findEventRoom,
    onOverdraft: dependencies.onOverdraft,
  })
  const issueCertificate = createIssueCertificate({
    store,
    hubId,
    authority,
    clock,
    log,
    hubNames,
    company,
    waiting: dependencies.waiting,
  })
  const receipts = createIdentityReceipts({
    store,
    clock,
    log,
    newestTree: dependencies.newestTree,
    restore: dependencies.restore,
  })
  const reading = { hasNames: dependencies.authority.takesNamesOfCsr }
  const giveSelected = createGiveSelected(store, clock, logging.forModule('hub.cargas'))
  const sightings = createAgentSightings(store, clock, logging.forModule('hub.sightings'))
  const streams = createAgentStreams({
    clock,
    log: logging.forModule('hub.stream'),
    readNews: createReadAgentNews(store, giveSelected, reading),
    checkpoint: () => dependencies.auditLog.header(),
    onPresence: dependencies.onPresence,
    onSwap: (agent, swap) => sightings.noteStreamSwap(agent, swap),
  })
  return {
    authenticateAgent: createAuthenticateAgent({ store, clock, log, identityMatch }),
    enrollAgent: createEnrollAgent({
      store,
      hubId,
      authority,
      keys: dependencies.issuerKeys,
      clock,
      log: enrollLog,
      hubNames,
      company,
      notifier: streams,
      onJoinRefused: dependencies.onJoinRefused,
    }),
    isKnownToken: async (token) => {
      const hash = hashToken(token)
      const { reader } = store
      return (
        (await reader.findToken(hash)) !== undefined ||
        (await reader.findJoinRuleByToken(hash)) !== undefined
      )
    },
    leakedTokens: createLeakedTokens(store, clock, logging.forModule('hub.tokens')),
    challengeTpm: createChallengeTpm({
      reader: store.reader,
      clock,
      refusals: createJoinRefusals(store, clock, enrollLog),
    }),
    recoverIdentity: createRecoverIdentity({
      store,
      clock,
      log: enrollLog,
      issueCertificate,
      hubNames,
      graceMs: config.recoveryGraceMs,
      issueRates,
      receipts,
    }),
    issueCertificate,
    issueRates,
    listManifest: createListManifest(store, polls, giveSelected, reading),
    recordEvent: createRecordEvent(clock, limits, eventBudget),
    recordRecipient: createRecordRecipient(store, clock, eventBudget),
    findBlob: createFindBlob(store),
    streams,
    sightings,
    refusals: dependencies.refusals,
    bundle: dependencies.bundle,
    offerRoots: dependencies.offerRoots,
    auditLog: dependencies.auditLog,
    receipts,
    enrolmentTrust: dependencies.enrolmentTrust,
  }
}
