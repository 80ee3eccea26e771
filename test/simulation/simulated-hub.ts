// The hub of a simulation: as it boots, over a real vault, but without its ports. It can go away and come back.

import { NO_ISSUERS } from '../fakes/issuer-keys.ts'
import { mkdir, rm } from 'node:fs/promises'
import { join } from 'node:path'
import type { AgentServices } from '../../src/hub/agent-services.ts'
import type { RootedAuthority } from '../../src/hub/ca/certificate-authority.ts'
import type { RestoredBackup } from '../../src/hub/backup/restore-vault.ts'
import { createScheduledArchive } from '../../src/hub/archive/scheduled-archive.ts'
import { composeServices, type MemberParts } from '../../src/hub/compose-services.ts'
import type { Agent } from '../../src/hub/domain/agent.ts'
import type { LogArchiver } from '../../src/hub/domain/log-archive.ts'
import type { LogTree } from '../../src/hub/domain/log-tree.ts'
import { keepOutside } from '../../src/hub/keep-outside.ts'
import { openVaultStore } from '../../src/hub/open-store.ts'
import type { NewStream } from '../../src/hub/http/agent-streams.ts'
import { createAdminOperations } from '../../src/hub/service/admin/admin-operations.ts'
import type { PresentedCertificate } from '../../src/hub/service/agent/authenticate-agent.ts'
import type { ServerCertificate } from '../../src/hub/service/upkeep/server-certificate.ts'
import type { Store, StoreReader } from '../../src/hub/store/store.ts'
import { lockVault, unsealVault } from '../../src/hub/vault/vault.ts'
import type { WebhookConnection } from '../../src/hub/webhook/webhook-connection.ts'
import { parseCertificatesPem } from '../../src/pki/certificates.ts'
import type { Clock } from '../../src/platform/clock.ts'
import { invariant } from '../../src/platform/errors.ts'
import type { Logging } from '../../src/platform/logger.ts'
import type { AdminOperations } from '../../src/protocol/admin/operations.ts'
import type { AgentId } from '../../src/protocol/identifiers.ts'
import { DEFAULT_HUB_LIMITS } from '../../src/protocol/hub-limits.ts'
import { initCheapVault } from '../support/cheap-vault.ts'
import { backUpSimulated, PASSPHRASE, restoreSimulated } from './simulated-backup.ts'
import { makeQuickDirectory } from './quick-directory.ts'
import type { Random } from './seeded-random.ts'
import { connectToCa, type SimulatedCa } from './simulated-authority.ts'
import type { VirtualTime } from './virtual-time.ts'

export const HUB_NAME = 'hub.test'

/** What is there while the hub is up; another one after each start. */
export interface RunningHub extends AgentServices {
  readonly clock: Clock
  readonly store: Store
  readonly admin: AdminOperations
  readonly serverCertificate: () => ServerCertificate
  /** What client certificates have to lead to. */
  readonly rootPem: () => string
  /** As its ports do before each request; undefined for a hub that has its vault to itself. */
  readonly catchUp: (() => Promise<void>) | undefined
  /** As its port for agents does when one of them opens a stream. */
  readonly holdStream: (stream: OpenedStream) => void
  /** Undefined where nobody holds a stream. */
  readonly connections: OpenConnections | undefined
}

export interface OpenedStream extends Pick<NewStream, 'connection' | 'lastEventId'> {
  readonly agent: Agent
  readonly presented: PresentedCertificate
}

/** Connections that outlive a request, which are those of streams. */
export interface OpenConnections {
  cut(agentId: AgentId): void
  cutUnless(isWanted: (sha256: string) => Promise<boolean>): Promise<void>
}

export interface SimulatedHub extends AsyncDisposable {
  readonly rootPem: string
  /** Undefined while the hub is away. */
  readonly running: RunningHub | undefined
  start(): Promise<RunningHub>
  stop(): Promise<void>
  /** As `svc backup` beside the hub. */
  backUp(): Promise<Buffer>
  /** What was on its disk is gone; what it kept outside is not. */
  lose(): Promise<void>
  /** As `svc restore`, of a hub that was lost. */
  restore(backup: Buffer): Promise<RestoredBackup>
}

export interface SimulatedHubOptions {
  readonly time: VirtualTime
  readonly ca: SimulatedCa
  readonly random: Random
  readonly logging: Logging
  readonly lateness?: number
}

const HUB_CONFIG = {
  serverNames: [HUB_NAME],
  identityMatch: 'identity',
  recoveryGraceMs: 7 * 24 * 3_600_000,
  limits: DEFAULT_HUB_LIMITS,
  contentBytesMax: 1024 * 1024,
  consoleUrl: undefined,
  renewalThresholdMs: 6 * 3_600_000,
} as const
/** A hub writes them down every five seconds; here that would be a commit for nearly every poll. */
const POLL_FLUSH_INTERVAL_MS = 10 * 60_000

export async function createSimulatedHub(options: SimulatedHubOptions): Promise<SimulatedHub> {
  const directory = await makeQuickDirectory('simulated-hub-')
  const vaultRoot = join(directory, 'vault')
  await initCheapVault(vaultRoot, PASSPHRASE)
  const outside = join(directory, 'outside')
  await mkdir(outside)
  let current: StartedHub | undefined
  const stop = async (): Promise<void> => {
    const old = current
    current = undefined
    await old?.stop()
  }
  return {
    rootPem: options.ca.rootPem,
    get running() {
      return current?.hub
    },
    start: async () => {
      invariant(current === undefined, 'a hub is started when none runs')
      current = await startHub(options, vaultRoot, outside)
      return current.hub
    },
    stop,
    backUp: async () => {
      invariant(current !== undefined, 'the hub that runs is backed up')
      return current.backUp()
    },
    lose: async () => {
      await stop()
      await rm(vaultRoot, { recursive: true })
    },
    restore: (backup) =>
      restoreSimulated(backup, { root: vaultRoot, outside, clock: options.time }),
    [Symbol.asyncDispose]: async () => {
      await stop()
      await rm(directory, { recursive: true, force: true })
    },
  }
}

interface StartedHub {
  readonly hub: RunningHub
  stop(this: void): Promise<void>
  backUp(): Promise<Buffer>
}

async function startHub(
  { time, ca, random, logging, lateness }: SimulatedHubOptions,
  vaultRoot: string,
  outside: string,
): Promise<StartedHub> {
  const lock = lockVault(vaultRoot)
  const vault = await unsealVault(vaultRoot, PASSPHRASE)
  const store = await openVaultStore(vault, { clock: time, checkpointDirectory: outside })
  const keep = keepOutside(outside, vault.vaultId, store.reader)
  const started = await startServices({
    store,
    // Time stands still while it writes.
    publishOutside: (tree) =>
      new Promise((resolve, reject) => {
        time.start(() => keep(tree).then(resolve, reject))
      }),
    vaultId: vault.vaultId,
    vaultRoot,
    hasFreeSpace: () => true,
    clock: time,
    background: (work) => time.start(work),
    authority: connectToCa(ca),
    readRootFile: () => ca.rootPem,
    lateness,
    random,
    logging,
  })
  return {
    hub: started.hub,
    backUp: () => backUpSimulated({ vault, store, clock: time }),
    stop: async () => {
      await started.stop()
      lock.release()
    },
  }
}

export interface ServicesOptions {
  readonly store: Store
  readonly vaultId: string
  readonly vaultRoot: string
  readonly hasFreeSpace: () => boolean
  readonly clock: Clock
  /** Runs what nobody waits for. */
  readonly background: (work: () => Promise<unknown>) => void
  readonly authority: RootedAuthority
  /** That of SVC_CA_ROOT_CA_PATH. */
  readonly readRootFile: () => string
  readonly openWebhook?: (url: URL) => WebhookConnection
  readonly publishOutside?: ((tree: LogTree) => Promise<void>) | undefined
  /** Of a hub with an archive; `keepMs` is that of SVC_LOG_KEEP. */
  readonly archive?: SimulatedArchive | undefined
  /** Of one of several hubs. */
  readonly membership?: SimulatedMembership | undefined
  /** Undefined where nobody holds a stream. */
  readonly connections?: OpenConnections | undefined
  /** How many times later than others it looks at its log. */
  readonly lateness?: number | undefined
  readonly random: Random
  readonly logging: Logging
}

export interface SimulatedMembership {
  readonly parts: MemberParts
  run(this: void, signal: AbortSignal): Promise<void>
  catchUp(this: void): Promise<void>
}

export interface SimulatedArchive {
  readonly archiver: LogArchiver
  readonly keepMs: number | undefined
}

/** What a hub is between its ports and its disk, as boot puts it together. */
export async function startServices({
  store,
  vaultId,
  vaultRoot,
  hasFreeSpace,
  clock,
  background,
  authority,
  readRootFile,
  openWebhook,
  publishOutside,
  archive,
  membership,
  connections,
  lateness = 1,
  random,
  logging,
}: ServicesOptions): Promise<{ readonly hub: RunningHub; stop(this: void): Promise<void> }> {
  const stopping = new AbortController()
  const { signal } = stopping
  let rootPem = ''
  const { services, operations, polls, certificates, tasks } = await composeServices(
    {
      config: { ...HUB_CONFIG, vaultRoot },
      store,
      issuerKeys: NO_ISSUERS,
      membership: membership?.parts,
      vaultId,
      publishOutside,
      clock: lookingSeldom(clock, random, lateness),
      logging,
      random,
      readFileRoots: async () => parseCertificatesPem(readRootFile()),
      connectToCa: (pem) => {
        authority.useRoots(pem)
        return authority
      },
      receivers: {
        openConnection: (url) => {
          invariant(openWebhook, 'there are receivers where there are webhooks')
          return openWebhook(url)
        },
        openSyslog: () => {
          throw new Error('receivers here are webhooks')
        },
        openMail: () => {
          throw new Error('receivers here are webhooks')
        },
      },
      findEventRoom: async () => (hasFreeSpace() ? 'enough' : 'none'),
      openDoors: (_services, certificate) => {
        ;({ rootPem } = certificate)
        return {
          mtls: {
            replaceCertificate: (renewed) => {
              ;({ rootPem } = renewed)
            },
            replaceRoots: (pem) => {
              rootPem = pem
            },
            // Each request of a simulation is a connection of its own.
            cutConnections: (agentId) => connections?.cut(agentId),
            cutConnectionsUnless: async (isWanted) => connections?.cutUnless(isWanted),
          },
        }
      },
    },
    signal,
  )
  const recordPolls = async (): Promise<void> => {
    const log = logging.forModule('hub.polls')
    while (!signal.aborted) {
      await clock.sleep(POLL_FLUSH_INTERVAL_MS, signal).catch(() => undefined)
      await polls.flush().catch((error: unknown) => log.warn({ err: error }, 'Polls not stored'))
    }
  }
  const { polls: _polls, streams, ...others } = tasks
  const ended: Promise<void>[] = []
  const archiving = scheduleArchive(archive, { reader: store.reader, membership, clock, logging })
  const beating = membership === undefined ? [] : [membership.run]
  const streaming = connections === undefined ? [] : [streams]
  for (const task of [
    ...beating,
    recordPolls,
    ...streaming,
    ...archiving,
    ...Object.values(others),
  ]) {
    background(() => {
      const run = task(signal)
      ended.push(run)
      return run
    })
  }
  const addresses = {
    enrollUrl: `https://${HUB_NAME}:8444`,
    mtlsUrl: `https://${HUB_NAME}:8443`,
  }
  return {
    hub: {
      ...services,
      clock,
      store,
      admin: createAdminOperations(
        { ...operations, addresses, ...(archive && { archiver: archive.archiver }) },
        'admin',
        'admin',
      ),
      serverCertificate: () => certificates.serverCertificate,
      rootPem: () => rootPem,
      catchUp: membership?.catchUp,
      connections,
      holdStream: ({ agent, presented, ...opened }) =>
        services.streams.hold({
          ...opened,
          agentId: agent.id,
          agent,
          authenticate: async () => {
            const outcome = await services.authenticateAgent(presented)
            return outcome.ok ? outcome.agent : undefined
          },
        }),
    },
    stop: async () => {
      stopping.abort()
      await Promise.all(ended)
      await store.close()
    },
  }
}

function scheduleArchive(
  archive: SimulatedArchive | undefined,
  {
    reader,
    membership,
    clock,
    logging,
  }: {
    reader: StoreReader
    membership: SimulatedMembership | undefined
    clock: Clock
    logging: Logging
  },
): ((signal: AbortSignal) => Promise<void>)[] {
  if (archive?.keepMs === undefined) return []
  const { archiver, keepMs } = archive
  const log = logging.forModule('hub.archive')
  const { run } = createScheduledArchive({ archiver, reader, keepMs, clock, log })
  return [(signal) => membership?.parts.leases.whileHeld('jobs', run, signal) ?? run(signal)]
}

/** How often a hub looks at its log, for webhooks and for its tree, at rollouts, and for late renewals. Here that would be nearly all that happens: it comes late. */
const LOOKS_MS: ReadonlyMap<number, number> = new Map([
  [200, 20_000],
  [1000, 120_000],
  [2000, 40_000],
  [30_000, 3_600_000],
])

function lookingSeldom(clock: Clock, random: Random, lateness: number): Clock {
  return {
    now: () => clock.now(),
    sleep: (durationMs, signal) => {
      const lateMsMax = LOOKS_MS.get(durationMs)
      const ms = lateMsMax === undefined ? durationMs : random() * lateMsMax * lateness
      return clock.sleep(ms, signal)
    },
  }
}
