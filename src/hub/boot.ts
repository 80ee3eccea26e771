// From configuration to a serving hub, in the order that operators see in the log, and back.

import { stat } from 'node:fs/promises'
import type { BindAddress } from '../platform/bind-address.ts'
import { systemClock, type Clock } from '../platform/clock.ts'
import { describeError, type SvcError } from '../platform/errors.ts'
import { describeListenFailure } from '../platform/listen-failure.ts'
import type { Logger, Logging } from '../platform/logger.ts'
import type { MetricsServer } from '../platform/metrics-server.ts'
import { readVersion } from '../platform/version.ts'
import { type AdminDoors, openAdminDoors } from './admin-doors.ts'
import { checkpointFiles } from './checkpoint-files.ts'
import { createLogArchiver } from './archive/log-archive.ts'
import {
  createSegmentWatch,
  lookAtSegments,
  type SegmentWatch,
} from './archive/look-at-segments.ts'
import { createScheduledArchive, type ScheduledArchive } from './archive/scheduled-archive.ts'
import { BACKUP_PACE } from './backup/backup-pace.ts'
import { createBackupMaker } from './backup/make-backup.ts'
import { createScheduledBackups, type ScheduledBackups } from './backup/scheduled-backups.ts'
import { enterHubs, logTables } from './enter-hubs.ts'
import { keepStandby } from './keep-standby.ts'
import { createImageKeeper, type ImageKeeper } from './journal/keep-images.ts'
import type { AuthorityClient } from './ca/certificate-authority.ts'
import { type ComposedHub, composeServices } from './compose-services.ts'
import { prepareCa, warnOfOtherKid } from './connect-to-ca.ts'
import type { HubConfig } from './config.ts'
import { createProcessExaminer } from './examine-process.ts'
import { keepOutside } from './keep-outside.ts'
import { ChangeBell } from './http/change-bell.ts'
import { listen, listenWhereWanted } from './listen.ts'
import { refuseUnfitDatabase } from './find-database-faults.ts'
import { createHubHealth } from './metrics/hub-health.ts'
import { createHubMeters, type HubMeters } from './metrics/hub-meters.ts'
import { type HubMetricsOptions, serveHubMetrics } from './metrics/serve-metrics.ts'
import { namingDamage } from './name-damage.ts'
import { openOpenid } from './open-openid.ts'
import { openReceivers } from './open-receivers.ts'
import { openVaultStore } from './open-store.ts'
import { createPorts, type Ports } from './ports.ts'
import { readRootFile, readWebhookRoots } from './root-file.ts'
import { createLeakedTokens } from './service/agent/end-leaked-token.ts'
import { createConfirmations } from './service/admin/passkeys/confirmations.ts'
import { agentAddresses, consoleUrlOf } from './service/admin/agent-addresses.ts'
import { createFreeSpaceCheck } from './vault/free-space.ts'
import { vaultFiles } from './vault/vault-files.ts'
import { lockVault, unsealVault } from './vault/vault.ts'
import { warnIfHeldAgainstNothing } from './warn-of-checkpoint.ts'
import { createAddressLookup } from './outbound/address-lookup.ts'
import { createGetText } from './outbound/get-text.ts'
import { createIssuerKeys } from './outbound/issuer-keys.ts'
import { watchHub } from './watch-hub.ts'

export interface Hub {
  /** Resolves when this hub may do nothing any more: it was removed from those that share the vault, or these have a newer program. */
  readonly ended: Promise<SvcError>
  /** Stops accepting, finishes what is under way for at most ten seconds, closes the vault. */
  close(): Promise<void>
}

const CLOSE_GRACE_MS = 10_000

/** In this order; operators and their tools wait for these lines, so they never change. */
const bootMessages = {
  starting: 'starting',
  locked: 'vault lock acquired',
  unsealed: 'vault unsealed',
  schemaVerified: 'schema verified',
  caReady: 'CA client ready',
  certificateReused: 'server certificate reused',
  certificateCreated: 'server certificate created',
  healthListening: 'health listening',
  enrollListening: 'enroll listening',
  mtlsListening: 'mtls listening',
  enrollTlsListening: 'enroll TLS listening',
  adminListening: 'admin listening',
  metricsListening: 'metrics listening',
} as const

/** What was opened is closed again, newest first, when a later step fails or when the hub stops. */
export async function bootHub(
  config: HubConfig,
  logging: Logging,
  stop: AbortSignal,
  clock: Clock = systemClock,
): Promise<Hub> {
  await using opened = new AsyncDisposableStack()
  const log = logging.forModule('hub.boot')
  const { vaultRoot } = config
  log.info({ vault: vaultRoot, version: readVersion() }, bootMessages.starting)

  const meters = config.metricsBind === undefined ? undefined : await openMeters(clock)

  const lock = lockVault(vaultRoot)
  opened.defer(() => lock.release())
  log.info(bootMessages.locked)
  const vault = await unsealVault(vaultRoot, config.passphrase)
  log.info({ vault_id: vault.vaultId }, bootMessages.unsealed)
  for (const reason of config.passphraseFaults) log.warn({ reason }, 'Weak master passphrase')
  const { checkpointDirectory, archiveDirectory, database, databaseReplication } = config
  if (database !== undefined) {
    const warn = (reason: string): void => log.warn({ reason }, 'Database of the journal')
    await refuseUnfitDatabase(database, databaseReplication, clock, warn)
  }
  const bell = new ChangeBell()
  const store = await openVaultStore(vault, {
    clock,
    checkpointDirectory,
    archiveDirectory,
    database,
    standby: config.standby && {
      ...config.standby,
      log: logging.forModule('hub.standby'),
      pace: { ...BACKUP_PACE, heldBytesMax: config.limits.backupHeldBytes },
    },
    onBatch: meters?.onBatch,
    onRecord: meters?.onRecord,
    onEntries: bell.ringEntries,
    onTables: logTables(logging),
  })
  opened.defer(() => store.close())
  log.info(bootMessages.schemaVerified)
  const { standby } = store
  const standbyLog = logging.forModule('hub.standby')
  opened.use(await keepStandby(config, vault, store, { clock, log: standbyLog }))
  const member =
    store.sharing && (await enterHubs({ config, store, clock, logging }, store.sharing, stop))
  opened.defer(() => member?.membership.leave())

  // What there is of it while it still waits for its first certificate, and only /readyz answers.
  let running: ComposedHub<Ports> | undefined
  let admin: AdminDoors | undefined
  let scheduled: ScheduledBackups | undefined
  let archiving: ScheduledArchive | undefined
  let segmentWatch: SegmentWatch | undefined
  let connected: AuthorityClient | undefined
  let keeper: ImageKeeper | undefined
  const watch = watchHub(clock, meters, () => running?.services.streams.count ?? 0)
  const health = createHubHealth({
    clock,
    caCalls: watch.caCalls,
    reader: store.reader,
    requireCurrent: member && (() => member.membership.requireHeard()),
    ...(standby && { standby }),
    vaultRoot,
    freeSpaceFloorBytes: config.limits.freeSpaceBytes,
    certificate: () => running?.certificates.serverCertificate,
  })
  const leakedTokens = createLeakedTokens(store, clock, logging.forModule('hub.tokens'))
  const metrics = await listenForMetrics(config, logging, meters, {
    onUrl: (url, address) => leakedTokens.endTokenIn(url, { port: 'metrics', address }),
    reader: store.reader,
    clock,
    vaultRoot,
    databasePath: vault.databasePath,
    freeSpaceFloorBytes: config.limits.freeSpaceBytes,
    thresholdMs: config.renewalThresholdMs,
    certificatesMax: config.metricsCertificates,
    checkReadiness: health.checkReadiness,
    serverNotAfter: () => running?.certificates.serverCertificate.notAfter,
    checkpointAt: () => running?.checkpointAt() ?? {},
    isArchiveFailing: () => archiving?.isFailing() ?? false,
    countSegments: () => segmentWatch?.seen()?.counts ?? {},
    backups: config.backupSchedule && {
      intervalMs: config.backupSchedule.intervalMs,
      lastAt: () => scheduled?.lastAt(),
    },
    standby: standby?.state,
    journal: store.sharing && { position: store.sharing.position, look: () => keeper?.look() },
    countStreams: () => running?.services.streams.count ?? 0,
    listDoubled: () => running?.services.sightings.listDoubled() ?? [],
    countConnections: async () => ({
      health: (await running?.doors.health.countConnections()) ?? 0,
      enroll: (await running?.doors.enroll.countConnections()) ?? 0,
      mtls: (await running?.doors.mtls.countConnections()) ?? 0,
      admin: (await admin?.countConnections()) ?? 0,
      enroll_tls: (await running?.doors.enrollTls?.countConnections()) ?? 0,
    }),
  })
  opened.defer(() => metrics?.close())
  const webhookRoots = await readWebhookRoots(config.webhookCaPath)
  const countHubs = member && (() => member.membership.running)
  const connectToCa = await prepareCa(config, { clock, logging, countHubs })
  const lookup = createAddressLookup()
  const openid = await openOpenid({ config, vault, store, clock, lookup })
  const checkpoints =
    checkpointDirectory === undefined
      ? undefined
      : checkpointFiles(checkpointDirectory, vault.vaultId)
  const named = namingDamage(vault.databasePath)
  await warnIfHeldAgainstNothing(store.reader, checkpoints, log).catch(named)
  const composing = composeServices<Ports>(
    {
      config,
      store,
      membership: member,
      vaultId: vault.vaultId,
      publishOutside:
        checkpointDirectory === undefined
          ? undefined
          : keepOutside(checkpointDirectory, vault.vaultId, store.reader),
      clock,
      logging,
      random,
      readFileRoots: () => readRootFile(config.caRootPath),
      connectToCa: (rootPem) => {
        const client = connectToCa(rootPem)
        opened.use(client)
        connected = client
        warnOfOtherKid(config, log)
        log.info({ ca_url: config.caUrl.href }, bootMessages.caReady)
        return watch.caCalls.watch(client)
      },
      issuerKeys: createIssuerKeys(createGetText(lookup, webhookRoots, readVersion()), clock),
      receivers: openReceivers(config, webhookRoots, lookup),
      findEventRoom: createFreeSpaceCheck({
        directory: vaultRoot,
        floorBytes: config.limits.freeSpaceBytes,
        clock,
        log: logging.forModule('hub.disk'),
      }),
      onOverdraft: meters?.onOverdraft,
      onPresence: bell.ringPresence,
      onJoinRefused: meters?.onJoinRefused,
      onSilentRevoked: meters?.onSilentRevoked,
      openDoors: (services, certificate) =>
        createPorts(
          { config, clock, logging, meters: watch.portMeters, catchUp: member?.catchUp },
          services,
          certificate,
        ),
    },
    stop,
  )
  const hub = await composing.catch(named)
  running = hub
  const { services, doors: ports, certificates } = hub
  const { serial, notAfter } = certificates.serverCertificate
  log.info(
    { serial, not_after: notAfter.toISOString() },
    hub.isCertificateReused ? bootMessages.certificateReused : bootMessages.certificateCreated,
  )
  const backups = createBackupMaker({
    vault,
    store,
    clock,
    pace: { ...BACKUP_PACE, heldBytesMax: config.limits.backupHeldBytes },
    log: logging.forModule('hub.backup'),
  })
  scheduled =
    config.backupSchedule &&
    createScheduledBackups({
      ...config.backupSchedule,
      vault,
      backups,
      countBytes: async () => (await stat(vault.databasePath)).size,
      freeSpaceFloorBytes: config.limits.freeSpaceBytes,
      clock,
      log: logging.forModule('hub.backup'),
    })
  const archiver = createLogArchiver({ ...vault, store, directory: archiveDirectory, clock })
  archiving =
    config.logKeepMs === undefined
      ? undefined
      : createScheduledArchive({
          archiver,
          reader: store.reader,
          keepMs: config.logKeepMs,
          clock,
          log: logging.forModule('hub.archive'),
        })
  segmentWatch = createSegmentWatch({
    archiver,
    reader: store.reader,
    clock,
    log: logging.forModule('hub.archive'),
  })
  keeper =
    store.sharing &&
    createImageKeeper({
      store: { openCopy: () => store.openCopy(), follow: store.sharing.follow },
      images: store.sharing.images,
      seal: store.sharing.imageSeal,
      clock,
      random,
      pace: { ...BACKUP_PACE, heldBytesMax: config.limits.backupHeldBytes },
      log: logging.forModule('hub.journal'),
    })
  const stopping = new AbortController()
  const asJob =
    (run: (signal: AbortSignal) => Promise<void>) =>
    (signal: AbortSignal): Promise<void> =>
      member?.leases.whileHeld('jobs', run, signal) ?? run(signal)
  const background = [
    ...(member ? [member.run] : []),
    ...Object.values({ ...hub.tasks, watch: watch.run }),
    health.run,
    ...(scheduled ? [scheduled.run] : []),
    ...(archiving ? [asJob(archiving.run)] : []),
    ...(keeper ? [keeper.run] : []),
    segmentWatch.run,
  ]
  const tasks = background.map((task) => task(stopping.signal).catch(named))
  // All at once: one grace for everything that is under way.
  opened.defer(async () => {
    stopping.abort()
    await Promise.all([
      ...tasks,
      ...Object.values(ports).map((port) => port?.close(CLOSE_GRACE_MS)),
      admin?.close(CLOSE_GRACE_MS),
    ])
  })
  const bound = {
    health: await listen(ports.health, config.healthBind, 'SVC_HEALTH_BIND'),
    enroll: await listen(ports.enroll, config.enrollBind, 'SVC_ENROLL_BIND'),
    mtls: await listen(ports.mtls, config.mtlsBind, 'SVC_MTLS_BIND'),
    enrollTls: await listenWhereWanted(
      ports.enrollTls,
      config.enrollTlsBind,
      'SVC_ENROLL_TLS_BIND',
    ),
  }
  if (ports.enrollTls !== undefined) certificates.showOn(ports.enrollTls)
  admin = await openAdminDoors({
    config,
    socketPath: vaultFiles(vaultRoot).adminSocket,
    clock,
    logging,
    certificate: certificates.serverCertificate,
    meters,
    leakedTokens: services.leakedTokens,
    openid: openid?.signIn,
    catchUp: member?.catchUp,
    backups,
    bell,
    operations: {
      ...hub.operations,
      ...(member && { hubs: member.hubs }),
      archiver,
      health: health.describe,
      live: watch.showLive(() => certificates.serverCertificate.notAfter),
      examineProcess: createProcessExaminer({
        config,
        clock,
        certificate: () => certificates.serverCertificate,
        rootPem: () => connected?.rootPem ?? '',
        checkpointAt: hub.checkpointAt,
        lastBackupAt: () => scheduled?.lastAt(),
        lookAtSegments: () => lookAtSegments(archiver, store.reader),
        openid,
      }),
      addresses: agentAddresses(config, bound),
      // Where the port is a free one, it is known once the doors are open.
      findConsoleUrl: () => consoleUrlOf(config, admin?.bound ?? config.adminBind),
      confirmations: createConfirmations(config.confirmationParty, vault.dataKey),
    },
  })
  certificates.showOn(admin)
  // A program that waits for these lines may use the admin socket at once.
  logListening(log, { ...bound, admin: admin.bound, metrics: metrics?.address })
  const booted = opened.move()
  return {
    close: () => booted.disposeAsync(),
    ended: member?.membership.ended ?? standby?.deposed ?? new Promise(() => undefined),
  }
}

// tidy: the hub's one source of chance, handed on from here.
const random = Math.random

/** In this order. */
function logListening(
  log: Logger,
  ports: Readonly<Record<'health' | 'enroll' | 'mtls', BindAddress>> &
    Readonly<Record<'enrollTls' | 'admin' | 'metrics', BindAddress | undefined>>,
): void {
  for (const [address, message] of [
    [ports.health, bootMessages.healthListening],
    [ports.enroll, bootMessages.enrollListening],
    [ports.mtls, bootMessages.mtlsListening],
    [ports.enrollTls, bootMessages.enrollTlsListening],
    [ports.admin, bootMessages.adminListening],
    [ports.metrics, bootMessages.metricsListening],
  ] as const) {
    if (address === undefined) continue
    const { host, port } = address
    log.info({ address: `${host}:${port}`, port }, message)
  }
}

/** The library is loaded by hubs that have metrics only. */
async function openMeters(clock: Clock): Promise<HubMeters> {
  const { createMetricSet } = await import('../platform/metric-set.ts')
  const { HUB_METRICS } = await import('./metrics/hub-metrics.ts')
  return createHubMeters(createMetricSet(HUB_METRICS), clock)
}

/** An address that the operator did not ask for must not keep the hub from starting. */
async function listenForMetrics(
  { metricsBind }: HubConfig,
  logging: Logging,
  meters: HubMeters | undefined,
  options: Omit<HubMetricsOptions, 'meters' | 'log'>,
): Promise<MetricsServer | undefined> {
  if (metricsBind === undefined || meters === undefined) return undefined
  const { address, isDefault } = metricsBind
  const log = logging.forModule('hub.metrics')
  const start = (): Promise<MetricsServer> => serveHubMetrics(address, { ...options, meters, log })
  try {
    return await start()
  } catch (error) {
    const failure = describeListenFailure(error, address, 'SVC_METRICS_BIND')
    if (!isDefault) throw failure
    log.warn(
      { reason: describeError(failure) },
      'Metrics not served, SVC_METRICS_BIND sets another address',
    )
    return undefined
  }
}
