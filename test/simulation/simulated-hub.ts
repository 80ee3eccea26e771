// The hub of a simulation: its real services over a real vault, without its ports. It can go away and come back.

import { rm } from 'node:fs/promises'
import { join } from 'node:path'
import { DEFAULT_HUB_LIMITS } from '../../src/protocol/hub-limits.ts'
import { openVaultStore } from '../../src/hub/open-store.ts'
import { createRootSetHub } from '../../src/hub/root-set-hub.ts'
import {
  type AuthenticateAgent,
  createAuthenticateAgent,
} from '../../src/hub/service/agent/authenticate-agent.ts'
import { createAdminOperations } from '../../src/hub/service/admin/admin-operations.ts'
import type { AdminRoots } from '../../src/hub/service/roots/bundle-operations.ts'
import { CurrentRootSet } from '../../src/hub/service/roots/current-root-set.ts'
import { createEventBudget } from '../../src/hub/service/agent/event-budget.ts'
import { createEnrollAgent, type EnrollAgent } from '../../src/hub/service/agent/enroll-agent.ts'
import {
  createIssueCertificate,
  type IssueCertificate,
} from '../../src/hub/service/agent/issue-certificate.ts'
import { createFindBlob, type FindBlob } from '../../src/hub/service/agent/find-blob.ts'
import { createListManifest, type ListManifest } from '../../src/hub/service/agent/list-manifest.ts'
import { openRootSet } from '../../src/hub/service/roots/open-root-set.ts'
import { createPollRecorder } from '../../src/hub/service/agent/record-polls.ts'
import { createRecordEvent, type RecordEvent } from '../../src/hub/service/agent/record-event.ts'
import {
  createRecordRecipient,
  type RecordRecipient,
} from '../../src/hub/service/agent/record-recipient.ts'
import { createAdminRoots } from '../../src/hub/service/roots/bundle-operations.ts'
import {
  createRecoverIdentity,
  type RecoverIdentity,
} from '../../src/hub/service/agent/recover-identity.ts'
import { createCaRevoker } from '../../src/hub/service/upkeep/revoke-at-ca.ts'
import {
  keepServerCertificateFresh,
  obtainServerCertificate,
  type ServerCertificate,
} from '../../src/hub/service/upkeep/server-certificate.ts'
import { storeRoots } from '../../src/hub/service/upkeep/server-pair-files.ts'
import type { WebhookControl } from '../../src/hub/service/webhooks/webhook-control.ts'
import type { Store } from '../../src/hub/store/store.ts'
import { initVault, lockVault, unsealVault } from '../../src/hub/vault/vault.ts'
import { parseCertificatesPem } from '../../src/pki/certificates.ts'
import type { WebhookConnection } from '../../src/hub/webhook/webhook-connection.ts'
import { createWebhooks } from '../../src/hub/webhook/webhooks.ts'
import type { Clock } from '../../src/platform/clock.ts'
import { invariant } from '../../src/platform/errors.ts'
import type { Logging } from '../../src/platform/logger.ts'
import { Secret } from '../../src/platform/secret.ts'
import type { AdminOperations } from '../../src/protocol/admin/operations.ts'
import type { BundleReplyBody } from '../../src/protocol/schemas.ts'
import { makeQuickDirectory } from './quick-directory.ts'
import type { Random } from './seeded-random.ts'
import { connectToCa, type SimulatedAuthority, type SimulatedCa } from './simulated-authority.ts'
import type { VirtualTime } from './virtual-time.ts'

export const HUB_NAME = 'hub.test'

/** What is there while the hub is up; another one after each start. */
export interface RunningHub {
  readonly clock: Clock
  readonly store: Store
  readonly admin: AdminOperations
  readonly authenticateAgent: AuthenticateAgent
  readonly enrollAgent: EnrollAgent
  readonly issueCertificate: IssueCertificate
  readonly listManifest: ListManifest
  readonly recordEvent: RecordEvent
  readonly recordRecipient: RecordRecipient
  readonly findBlob: FindBlob
  readonly recoverIdentity: RecoverIdentity
  readonly serverCertificate: () => ServerCertificate
  /** What client certificates have to lead to. */
  readonly rootPem: () => string
  readonly bundle: () => BundleReplyBody
}

export interface SimulatedHub extends AsyncDisposable {
  readonly rootPem: string
  /** Undefined while the hub is away. */
  readonly running: RunningHub | undefined
  start(): Promise<RunningHub>
  stop(): Promise<void>
}

export interface SimulatedHubOptions {
  readonly time: VirtualTime
  readonly ca: SimulatedCa
  readonly random: Random
  readonly logging: Logging
}

const RECOVERY_GRACE_MS = 7 * 24 * 3_600_000
/** A hub writes them down every five seconds; here that would be a commit for nearly every poll. */
const POLL_FLUSH_INTERVAL_MS = 10 * 60_000
const CONTENT_BYTES_MAX = 1024 * 1024
const PASSPHRASE = new Secret('correct horse battery staple')

export async function createSimulatedHub(options: SimulatedHubOptions): Promise<SimulatedHub> {
  const directory = await makeQuickDirectory('simulated-hub-')
  const vaultRoot = join(directory, 'vault')
  await initVault(vaultRoot, PASSPHRASE)
  let current: { readonly hub: RunningHub; stop(this: void): Promise<void> } | undefined
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
      current = await startHub(options, vaultRoot)
      return current.hub
    },
    stop,
    [Symbol.asyncDispose]: async () => {
      await stop()
      await rm(directory, { recursive: true, force: true })
    },
  }
}

async function startHub(
  { time, ca, random, logging }: SimulatedHubOptions,
  vaultRoot: string,
): Promise<{ readonly hub: RunningHub; stop(this: void): Promise<void> }> {
  const lock = lockVault(vaultRoot)
  const vault = await unsealVault(vaultRoot, PASSPHRASE)
  const started = await startServices({
    store: await openVaultStore(vault, { clock: time }),
    vaultRoot,
    hasFreeSpace: () => true,
    clock: time,
    background: (work) => time.start(work),
    authority: connectToCa(ca),
    readRootFile: () => ca.rootPem,
    random,
    logging,
  })
  return {
    hub: started.hub,
    stop: async () => {
      await started.stop()
      lock.release()
    },
  }
}

export interface ServicesOptions {
  readonly store: Store
  readonly vaultRoot: string
  readonly hasFreeSpace: () => boolean
  readonly clock: Clock
  /** Runs what nobody waits for. */
  readonly background: (work: () => Promise<unknown>) => void
  readonly authority: SimulatedAuthority
  /** That of SVC_CA_ROOT_CA_PATH. */
  readonly readRootFile: () => string
  /** Without it there are no webhooks: all that they do in a quiet week is to look at the log, five times a second. */
  readonly openWebhook?: (url: URL) => WebhookConnection
  readonly random: Random
  readonly logging: Logging
}

/** What a hub is between its ports and its disk, as boot puts it together. */
export async function startServices({
  store,
  vaultRoot,
  hasFreeSpace,
  clock,
  background,
  authority,
  readRootFile,
  openWebhook,
  random,
  logging,
}: ServicesOptions): Promise<{ readonly hub: RunningHub; stop(this: void): Promise<void> }> {
  const log = logging.forModule('hub')
  const stopping = new AbortController()
  const readFileRoots = async () => parseCertificatesPem(readRootFile())
  const roots = new CurrentRootSet(await openRootSet({ store, clock, log }, await readFileRoots()))
  authority.useRoots(roots.set.pem)
  const tls = { authority, clock, log, vaultRoot, names: [HUB_NAME] }
  const { certificate } = await obtainServerCertificate(tls, stopping.signal)
  await storeRoots(vaultRoot, roots.set.pem)
  let { rootPem } = certificate
  const rootSetHub = createRootSetHub({
    authority,
    tls,
    mtls: {
      replaceCertificate: (renewed) => {
        ;({ rootPem } = renewed)
      },
      replaceRoots: (pem) => {
        rootPem = pem
      },
      // Each request of a simulation is a connection of its own.
      cutConnectionsUnless: async () => undefined,
    },
    certificate,
    store,
    vaultRoot,
    onServerCertificate: () => undefined,
  })
  background(() =>
    keepServerCertificateFresh(
      tls,
      () => rootSetHub.serverCertificate,
      (renewed) => rootSetHub.useServerCertificate(renewed),
      stopping.signal,
    ),
  )
  const webhooks =
    openWebhook &&
    createWebhooks({
      store,
      clock: lookingSeldom(clock, random),
      log,
      random,
      userAgent: 'svc-server/0.0.0',
      openConnection: openWebhook,
    })
  if (webhooks !== undefined) background(() => webhooks.run(stopping.signal))
  const revoker = createCaRevoker({ store, authority, clock, log, random })
  background(() => revoker.run(stopping.signal))
  const polls = createPollRecorder(store, clock, log)
  background(async () => {
    while (!stopping.signal.aborted) {
      await clock.sleep(POLL_FLUSH_INTERVAL_MS, stopping.signal).catch(() => undefined)
      await polls.flush().catch((error: unknown) => log.warn({ err: error }, 'Polls not stored'))
    }
  })
  const hub = createServices({
    store,
    hasFreeSpace,
    authority,
    clock,
    log,
    polls,
    webhooks,
    onAgentRevoked: () => revoker.wake(),
    roots: createAdminRoots({
      store,
      clock,
      log,
      current: roots,
      readFileRoots,
      hub: rootSetHub,
    }),
    trust: {
      serverCertificate: () => rootSetHub.serverCertificate,
      rootPem: () => rootPem,
      bundle: () => roots.reply,
    },
  })
  return {
    hub,
    stop: async () => {
      stopping.abort()
      await polls.flush()
      await store.close()
    },
  }
}

const LOOK_MS = 200
const LATE_LOOK_MS_MAX = 20_000

/** Five looks a second would be nearly all that happens: they come late. */
function lookingSeldom(clock: Clock, random: Random): Clock {
  return {
    now: () => clock.now(),
    sleep: (durationMs, signal) =>
      clock.sleep(durationMs === LOOK_MS ? random() * LATE_LOOK_MS_MAX : durationMs, signal),
  }
}

interface Parts extends Pick<ServicesOptions, 'store' | 'authority' | 'clock' | 'hasFreeSpace'> {
  readonly log: ReturnType<Logging['forModule']>
  readonly polls: ReturnType<typeof createPollRecorder>
  readonly roots: AdminRoots
  readonly webhooks: WebhookControl | undefined
  readonly onAgentRevoked: () => void
  readonly trust: Pick<RunningHub, 'serverCertificate' | 'rootPem' | 'bundle'>
}

/** As createPorts puts them together. */
function createServices({
  store,
  authority,
  clock,
  hasFreeSpace,
  log,
  polls,
  roots,
  webhooks,
  onAgentRevoked,
  trust,
}: Parts): RunningHub {
  const hubNames = [HUB_NAME]
  const eventBudget = createEventBudget({
    store,
    clock,
    bytesPerDay: DEFAULT_HUB_LIMITS.eventBytesPerDay,
    findRoom: async () => (hasFreeSpace() ? 'enough' : 'none'),
  })
  const issueCertificate = createIssueCertificate({ store, authority, clock, log, hubNames })
  return {
    clock,
    store,
    admin: createAdminOperations(
      {
        store,
        clock,
        polls,
        addresses: { enrollUrl: `https://${HUB_NAME}:8444`, mtlsUrl: `https://${HUB_NAME}:8443` },
        hubNames,
        contentBytesMax: CONTENT_BYTES_MAX,
        renewalThresholdMs: 21_600_000,
        roots,
        onAgentRevoked,
        ...(webhooks === undefined ? {} : { webhooks }),
      },
      'admin',
      'admin',
    ),
    authenticateAgent: createAuthenticateAgent({ store, clock, log, identityMatch: 'identity' }),
    enrollAgent: createEnrollAgent({ store, authority, clock, log, hubNames }),
    issueCertificate,
    listManifest: createListManifest(store, polls),
    recordEvent: createRecordEvent(store, clock, DEFAULT_HUB_LIMITS, eventBudget),
    recordRecipient: createRecordRecipient(store, clock, eventBudget),
    findBlob: createFindBlob(store),
    recoverIdentity: createRecoverIdentity({
      store,
      clock,
      log,
      issueCertificate,
      hubNames,
      graceMs: RECOVERY_GRACE_MS,
      issueRates: { take: () => 0, waitMs: () => 0, giveBack: () => undefined },
    }),
    ...trust,
  }
}
