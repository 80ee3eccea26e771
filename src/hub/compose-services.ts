// The hub put together, between its doors and its disk: the services behind its ports, what its operators ask for, and what
// it does by itself. Boot, the simulations and the tests within one process all have this hub.

import type { IssuerKeys } from './domain/issuer-keys.ts'
import type { Certificate } from '../pki/certificates.ts'
import type { Clock } from '../platform/clock.ts'
import { describeError } from '../platform/errors.ts'
import type { Logger, Logging } from '../platform/logger.ts'
import { readVersion } from '../platform/version.ts'
import { type AgentServices, createAgentServices } from './agent-services.ts'
import type { RootedAuthority } from './ca/certificate-authority.ts'
import type { HubConfig } from './config.ts'
import type { EventOverdraft, EventRoom } from './domain/event-budget.ts'
import type { RootSet } from './domain/root-set.ts'
import type { MtlsServer } from './http/mtls-server.ts'
import type { OpenReceivers } from './open-receivers.ts'
import { createRootSetHub, type RunningRootSetHub } from './root-set-hub.ts'
import type { AdminHub } from './service/admin/admin-context.ts'
import { createPollRecorder, type PollRecorder } from './service/agent/record-polls.ts'
import { createRolloutKeeper } from './service/rollout/rollout-keeper.ts'
import { createFleetChanges, type FleetChanges } from './service/cargo/fleet-changes.ts'
import { createTryLifetime } from './service/policy/try-lifetime.ts'
import { authorityForServer, authorityForTrials } from './service/own-certificates.ts'
import { createAdminRoots } from './service/roots/bundle-operations.ts'
import { createOfferedRootSets } from './service/roots/offered-root-set.ts'
import { CurrentRootSet } from './service/roots/current-root-set.ts'
import { openRootSet } from './service/roots/open-root-set.ts'
import { findRootsHeldTo } from './service/roots/roots-in-waves.ts'
import { recordLeftBefore, watchLeftOpen } from './service/upkeep/left-open-signings.ts'
import { watchLateRenewals } from './service/upkeep/late-renewals.ts'
import { indexOlderActs } from './service/upkeep/index-older-acts.ts'
import {
  createLogKeeper,
  type LogKeeper,
  type LogKeeperOptions,
} from './service/upkeep/log-keeper.ts'
import { createCaRevoker } from './service/upkeep/revoke-at-ca.ts'
import {
  keepServerCertificateFresh,
  obtainServerCertificate,
  type ServerCertificate,
} from './service/upkeep/server-certificate.ts'
import { watchSilentHosts } from './service/upkeep/silent-hosts.ts'
import { showLog } from './service/agent/show-log.ts'
import { createAgentRefusals } from './service/agent-refusals.ts'
import { createWaitingReasons } from './service/waiting-reasons.ts'
import { storeRoots } from './service/upkeep/server-pair-files.ts'
import type { JoinRefusalReason } from './domain/join-rule.ts'
import type { AgentId } from '../protocol/identifiers.ts'
import { createOthersActs } from './follow-others.ts'
import { followRootSet } from './service/roots/follow-root-set.ts'
import { type Leases, ownLeases } from './store/leases.ts'
import type { News, Store } from './store/store.ts'
import { createWebhooks } from './webhook/webhooks.ts'

/** What a hub does to the connections of its agents. */
export type AgentDoors = Pick<
  MtlsServer,
  'replaceCertificate' | 'replaceRoots' | 'cutConnections' | 'cutConnectionsUnless'
>

export interface HubParts<Doors extends { readonly mtls: AgentDoors }> {
  readonly config: Pick<
    HubConfig,
    | 'serverNames'
    | 'identityMatch'
    | 'recoveryGraceMs'
    | 'limits'
    | 'contentBytesMax'
    | 'consoleUrl'
    | 'renewalThresholdMs'
    | 'vaultRoot'
  >
  readonly store: Store
  readonly vaultId: string
  /** Of one of several hubs that share the vault. */
  readonly membership?: MemberParts | undefined
  /** Keeps what a restore needs outside the vault. */
  readonly publishOutside?: LogKeeperOptions['publish'] | undefined
  readonly clock: Clock
  readonly logging: Logging
  readonly random: () => number
  /** The roots of SVC_CA_ROOT_CA_PATH, as it is now. */
  readonly readFileRoots: () => Promise<readonly Certificate[]>
  readonly connectToCa: (rootPem: string) => RootedAuthority
  readonly receivers: OpenReceivers
  readonly issuerKeys: IssuerKeys
  readonly findEventRoom: () => Promise<EventRoom>
  readonly onOverdraft?: ((overdraft: EventOverdraft) => void) | undefined
  /** An agent holds its stream, or no longer does. */
  readonly onPresence?: ((agentId: AgentId) => void) | undefined
  readonly onJoinRefused?: ((reason: JoinRefusalReason) => void) | undefined
  readonly onSilentRevoked?: ((hosts: number) => void) | undefined
  /** Makes what carries the requests of agents. */
  readonly openDoors: (services: AgentServices, certificate: ServerCertificate) => Doors
}

export interface MemberParts {
  readonly hubId: string
  readonly leases: Leases
  /** Told what other hubs did. */
  readonly onFollowed: (listener: (news: readonly News[]) => void) => void
}

export interface ComposedHub<Doors> {
  readonly services: AgentServices
  readonly doors: Doors
  /** All that the admin operations need but for where the doors are. */
  readonly operations: Omit<AdminHub, 'addresses'>
  readonly polls: PollRecorder
  readonly certificates: Pick<RunningRootSetHub, 'serverCertificate' | 'showOn'>
  readonly isCertificateReused: boolean
  readonly checkpointAt: () => LogKeeper['coveredAt']
  /** What it does besides answering: each goes on by itself until the signal aborts. */
  readonly tasks: Readonly<Record<HubTask, (signal: AbortSignal) => Promise<void>>>
}

export type HubTask =
  | 'serverCertificate'
  | 'polls'
  | 'sightings'
  | 'streams'
  | 'othersActs'
  | 'webhooks'
  | 'revocations'
  | 'lateRenewals'
  | 'silentHosts'
  | 'rollouts'
  | 'changes'
  | 'entryIndex'
  | 'leftOpen'
  | 'logTree'

/** The signal ends the waiting for a CA that does not answer. */
export async function composeServices<Doors extends { readonly mtls: AgentDoors }>(
  parts: HubParts<Doors>,
  stop: AbortSignal,
): Promise<ComposedHub<Doors>> {
  const { config, store, clock, logging, random, readFileRoots, membership } = parts
  const leases = membership?.leases ?? ownLeases(store)
  /** Its writes are refused while another hub does the jobs. */
  const jobs = leases.storeFor('jobs')
  const asJob =
    (run: (signal: AbortSignal) => Promise<void>) =>
    (signal: AbortSignal): Promise<void> =>
      leases.whileHeld('jobs', run, signal)
  const { vaultRoot, serverNames, renewalThresholdMs: thresholdMs } = config

  const trust = { store, clock, log: logging.forModule('hub.trust') }
  const isShared = membership !== undefined
  const openRoots = async (): Promise<RootSet> =>
    openRootSet({ ...trust, isShared }, await readFileRoots())
  const roots = new CurrentRootSet(await openRoots())
  const authority = parts.connectToCa(roots.set.pem)
  const tlsLog = logging.forModule('hub.tls')
  const hubId = membership?.hubId
  const signing = { store, authority, clock, log: logging.forModule('hub.ca'), hubId }
  const tls = {
    authority: authorityForServer(signing),
    clock,
    log: tlsLog,
    vaultRoot,
    names: serverNames,
    rootsHeldTo: () => findRootsHeldTo(store.reader),
  }
  const lookAgain = async (): Promise<void> => {
    try {
      roots.replace(await openRoots())
      authority.useRoots(roots.set.pem)
    } catch (error) {
      trust.log.warn({ reason: describeError(error) }, 'Roots not read again')
    }
  }
  const { certificate, isReused } = await obtainServerCertificate(tls, stop, lookAgain)
  await recordLeftBefore(signing, certificate, serverNames)
  await storeRoots(vaultRoot, roots.set.pem)

  const polls = createPollRecorder(store, clock, logging.forModule('hub.polls'))
  const waiting = createWaitingReasons()
  const refusals = createAgentRefusals(clock)
  const logKeeper = createLogKeeper({
    store: jobs,
    isAnothers: () => !leases.has('jobs'),
    clock,
    log: logging.forModule('hub.log'),
    vaultId: parts.vaultId,
    publish: parts.publishOutside,
  })
  const offered = createOfferedRootSets(store, roots)
  const services = createAgentServices({
    ...parts,
    hubId,
    authority,
    polls,
    waiting,
    refusals,
    bundle: () => roots.reply,
    offerRoots: (agent) => offered.offerTo(agent),
    auditLog: showLog(
      store.reader,
      () => logKeeper.newest,
      isShared ? () => logKeeper.catchUp() : undefined,
    ),
    newestTree: () => logKeeper.newest,
    restore: await store.reader.findLastRestore(),
    enrolmentTrust: () => offered.enrolmentTrust(),
  })
  const doors = parts.openDoors(services, certificate)
  const { mtls } = doors
  const rootSetHub = createRootSetHub({ authority, tls, mtls, certificate, store, vaultRoot })
  const changes = createFleetChanges(store, services.streams, leases)
  const rollouts = createRolloutKeeper({
    store: jobs,
    changes,
    clock,
    log: logging.forModule('hub.rollouts'),
    notifier: services.streams,
  })
  const webhooks = createWebhooks({
    store: jobs,
    clock,
    log: logging.forModule('hub.webhook'),
    random,
    source: { hostname: serverNames[0] ?? '', version: readVersion() },
    consoleUrl: config.consoleUrl,
    ...parts.receivers,
  })
  const revocationsLog = logging.forModule('hub.revocations')
  const revoker = createCaRevoker({ store: jobs, authority, clock, log: revocationsLog, random })
  const cutOff = (agentId: AgentId): void => {
    mtls.cutConnections(agentId)
    services.sightings.forget(agentId)
    revoker.wake()
  }
  const rootSets = { ...trust, current: roots, readFileRoots, hub: rootSetHub }
  const others = createOthersActs({
    streams: services.streams,
    cutOff,
    followRoots: () => followRootSet(rootSets),
    wakeJobs: ({ areWebhooksChanged, areRolloutsChanged }) => {
      if (areWebhooksChanged) void webhooks.changed()
      if (areRolloutsChanged) rollouts.wake()
    },
    clock,
    log: logging.forModule('hub.journal'),
  })
  membership?.onFollowed(others.note)
  // They were read when nobody listened yet, and the CA may have taken its time since.
  if (isShared) others.note([{ areRootsChanged: true }])
  return {
    services,
    doors,
    polls,
    certificates: rootSetHub,
    isCertificateReused: isReused,
    checkpointAt: () => logKeeper.coveredAt,
    operations: {
      store,
      clock,
      polls,
      waiting,
      refusals,
      hubNames: serverNames,
      contentBytesMax: config.contentBytesMax,
      renewalThresholdMs: thresholdMs,
      notifier: services.streams,
      sightings: services.sightings,
      changes,
      webhooks,
      rollouts,
      tryLifetime: createTryLifetime(authorityForTrials(signing), logging.forModule('hub.ca')),
      roots: createAdminRoots(rootSets),
      cutOff,
    },
    tasks: {
      serverCertificate: (signal) =>
        keepServerCertificateFresh(
          tls,
          () => rootSetHub.serverCertificate,
          rootSetHub.useServerCertificate,
          signal,
        ),
      polls: (signal) => polls.run(signal),
      sightings: (signal) => services.sightings.run(signal),
      streams: (signal) => services.streams.run(signal),
      othersActs: (signal) => others.run(signal),
      webhooks: asJob((signal) => webhooks.run(signal)),
      revocations: asJob((signal) => revoker.run(signal)),
      lateRenewals: asJob((signal) =>
        watchLateRenewals(
          { store: jobs, clock, thresholdMs },
          logging.forModule('hub.late'),
          signal,
        ),
      ),
      silentHosts: asJob((signal) =>
        watchSilentHosts(
          {
            store: jobs,
            clock,
            log: logging.forModule('hub.join'),
            cutOff,
            onRevoked: parts.onSilentRevoked,
          },
          signal,
        ),
      ),
      rollouts: asJob((signal) => rollouts.run(signal)),
      changes: async (signal) => {
        signal.addEventListener('abort', () => changes.close(), { once: true })
        await asJob(() => finishChanges(changes, logging.forModule('hub.changes')))(signal)
      },
      leftOpen: asJob((signal) => watchLeftOpen({ ...signing, store: jobs }, signal)),
      logTree: (signal) => logKeeper.run(signal),
      entryIndex: asJob((signal) =>
        indexOlderActs({ store: jobs, clock }, logging.forModule('hub.index'), signal),
      ),
    },
  }
}

/** What a hub that was killed had in force is written down, and what it was preparing discarded. */
async function finishChanges(changes: FleetChanges, log: Logger): Promise<void> {
  await changes
    .inTurn(async () => undefined)
    .catch((error: unknown) => {
      const fields = { reason: describeError(error) }
      log.warn(fields, 'Earlier change not cleared away, the next change tries again')
    })
}
