// The three public ports, with the services that answer on them.

import type { Clock } from '../platform/clock.ts'
import type { Logging } from '../platform/logger.ts'
import { createTokenBuckets } from '../platform/token-bucket.ts'
import { readVersion } from '../platform/version.ts'
import type { CertificateAuthority } from './ca/certificate-authority.ts'
import type { IdentityMatch } from './domain/decide-authentication.ts'
import type { EventRoom } from './domain/event-budget.ts'
import { createAgentStreams } from './http/agent-streams.ts'
import { createEnrollServer } from './http/enroll-server.ts'
import { createHealthServer } from './http/health-server.ts'
import type { HttpPort } from './http/http-port.ts'
import type { HubMeters } from './metrics/hub-meters.ts'
import { createMtlsServer, type MtlsServer } from './http/mtls-server.ts'
import type { IsTrustedProxy } from './http/connections/trusted-proxies.ts'
import type { HubLimits } from '../protocol/hub-limits.ts'
import type { BundleReplyBody } from '../protocol/schemas.ts'
import { createAuthenticateAgent } from './service/agent/authenticate-agent.ts'
import { createEventBudget } from './service/agent/event-budget.ts'
import { createEnrollAgent } from './service/agent/enroll-agent.ts'
import type { LeakedTokens } from './service/agent/end-leaked-token.ts'
import { hashToken } from './service/hash-token.ts'
import { createFindBlob } from './service/agent/find-blob.ts'
import { createIssueCertificate } from './service/agent/issue-certificate.ts'
import { createListManifest } from './service/agent/list-manifest.ts'
import { createReadAgentNews } from './service/agent/read-agent-news.ts'
import { createRecordEvent } from './service/agent/record-event.ts'
import { createRecordRecipient } from './service/agent/record-recipient.ts'
import { createRecoverIdentity } from './service/agent/recover-identity.ts'
import type { PollRecorder } from './service/agent/record-polls.ts'
import type { ServerCertificate } from './service/upkeep/server-certificate.ts'
import type { Store } from './store/store.ts'

/** A host that comes back after an outage has much to renew at once. */
const ISSUE_BURST_SECONDS = 300

export interface PortsDependencies {
  readonly store: Store
  readonly authority: CertificateAuthority
  readonly clock: Clock
  readonly logging: Logging
  readonly polls: PollRecorder
  readonly certificate: ServerCertificate
  readonly identityMatch: IdentityMatch
  readonly hubNames: readonly string[]
  readonly recoveryGraceMs: number
  readonly limits: HubLimits
  readonly isTrustedProxy: IsTrustedProxy
  /** The roots that are trusted now. */
  readonly bundle: () => BundleReplyBody
  /** What room there is for events; everything else is stored until the disk is full. */
  readonly findEventRoom: () => Promise<EventRoom>
  /** Who counts what the ports do; nobody where metrics are off. */
  readonly meters?:
    | Pick<HubMeters, 'onAnswer' | 'onRefusal' | 'onHandshakeFailure' | 'onOverdraft'>
    | undefined
  readonly leakedTokens: LeakedTokens
}

export interface Ports {
  readonly health: HttpPort
  readonly enroll: HttpPort
  readonly mtls: MtlsServer
}

export function createPorts(dependencies: PortsDependencies): Ports {
  const { store, authority, clock, logging, polls, certificate, identityMatch } = dependencies
  const { limits, isTrustedProxy, hubNames, recoveryGraceMs, leakedTokens } = dependencies
  const { onAnswer, onRefusal } = dependencies.meters ?? {}
  const bounds = { limits, isTrustedProxy, leakedTokens, onAnswer, onRefusal }
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
    onOverdraft: dependencies.meters?.onOverdraft,
  })
  const issueCertificate = createIssueCertificate({ store, authority, clock, log, hubNames })
  const streams = createAgentStreams({
    clock,
    log: logging.forModule('hub.stream'),
    readNews: createReadAgentNews(store),
  })
  return {
    health: createHealthServer({
      ...bounds,
      log: logging.forModule('hub.health'),
      version: readVersion(),
    }),
    enroll: createEnrollServer({
      ...bounds,
      clock,
      log: enrollLog,
      isKnownToken: async (token) => (await store.reader.findToken(hashToken(token))) !== undefined,
      recoverIdentity: createRecoverIdentity({
        store,
        clock,
        log: enrollLog,
        issueCertificate,
        hubNames,
        graceMs: recoveryGraceMs,
        issueRates,
      }),
      enrollAgent: createEnrollAgent({
        store,
        authority,
        clock,
        log: enrollLog,
        hubNames,
        notifier: streams,
      }),
    }),
    mtls: createMtlsServer({
      issueRates,
      ...bounds,
      onHandshakeFailure: dependencies.meters?.onHandshakeFailure,
      clock,
      log,
      certificate,
      authenticateAgent: createAuthenticateAgent({ store, clock, log, identityMatch }),
      issueCertificate,
      streams,
      listManifest: createListManifest(store, polls),
      recordEvent: createRecordEvent(store, clock, limits, eventBudget),
      recordRecipient: createRecordRecipient(store, clock, eventBudget),
      findBlob: createFindBlob(store),
      bundle: dependencies.bundle,
    }),
  }
}
