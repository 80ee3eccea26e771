// From configuration to a serving hub, in the order that operators see in the log, and back.

import type { BindAddress } from '../platform/bind-address.ts'
import { systemClock, type Clock } from '../platform/clock.ts'
import { describeError } from '../platform/errors.ts'
import type { Logger, Logging } from '../platform/logger.ts'
import type { MetricsServer } from '../platform/metrics-server.ts'
import { readVersion } from '../platform/version.ts'
import { type AdminDoors, openAdminDoors } from './admin-doors.ts'
import { startBackground } from './background.ts'
import { bootMessages } from './boot-messages.ts'
import { createStepCaClient } from './ca/step-ca-client.ts'
import type { HubConfig } from './config.ts'
import { describeListenFailure, listen } from './listen.ts'
import { createHubMeters, type HubMeters } from './metrics/hub-meters.ts'
import { type HubMetricsOptions, serveHubMetrics } from './metrics/serve-metrics.ts'
import { openVaultStore } from './open-store.ts'
import { createPorts } from './ports.ts'
import { readRootFile } from './root-file.ts'
import { createRootSetHub } from './root-set-hub.ts'
import { agentAddresses } from './service/admin/agent-addresses.ts'
import { createAdminRoots } from './service/roots/bundle-operations.ts'
import { CurrentRootSet } from './service/roots/current-root-set.ts'
import { createLeakedTokens } from './service/agent/end-leaked-token.ts'
import { openRootSet } from './service/roots/open-root-set.ts'
import { createPollRecorder } from './service/agent/record-polls.ts'
import { createFleetChanges } from './service/cargo/fleet-changes.ts'
import { obtainServerCertificate } from './service/upkeep/server-certificate.ts'
import { storeRoots } from './service/upkeep/server-pair-files.ts'
import { createFreeSpaceCheck } from './vault/free-space.ts'
import { vaultFiles } from './vault/vault-files.ts'
import { lockVault, unsealVault } from './vault/vault.ts'

export interface Hub {
  /** Stops accepting, finishes what is under way for at most ten seconds, closes the vault. */
  close(): Promise<void>
}

const CLOSE_GRACE_MS = 10_000

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
  const store = await openVaultStore(vault, { clock, onBatch: meters?.onBatch })
  opened.defer(() => store.close())
  log.info(bootMessages.schemaVerified)

  const trustLog = logging.forModule('hub.trust')
  const readFileRoots = () => readRootFile(config.caRootPath)
  const roots = new CurrentRootSet(
    await openRootSet({ store, clock, log: trustLog }, await readFileRoots()),
  )
  const caClient = createStepCaClient({
    caUrl: config.caUrl,
    rootPem: roots.set.pem,
    provisionerKey: config.caProvisionerKey,
    provisionerKid: config.caProvisionerKid,
    provisionerName: config.caProvisionerName,
    clock,
    logger: logging.forModule('hub.ca'),
  })
  opened.defer(() => caClient.close())
  warnOfOtherKid(config, log)
  const authority = meters?.watchAuthority(caClient) ?? caClient
  log.info({ ca_url: config.caUrl.href }, bootMessages.caReady)

  const tls = {
    authority,
    clock,
    log: logging.forModule('hub.tls'),
    vaultRoot,
    names: config.serverNames,
  }
  const { certificate, isReused } = await obtainServerCertificate(tls, stop)
  await storeRoots(vaultRoot, roots.set.pem)
  log.info(
    { serial: certificate.serial, not_after: certificate.notAfter.toISOString() },
    isReused ? bootMessages.certificateReused : bootMessages.certificateCreated,
  )

  const polls = createPollRecorder(store, clock, logging.forModule('hub.polls'))
  const leakedTokens = createLeakedTokens(store, clock, logging.forModule('hub.tokens'))
  const ports = createPorts({
    store,
    leakedTokens,
    authority,
    clock,
    logging,
    polls,
    certificate,
    bundle: () => roots.reply,
    identityMatch: config.identityMatch,
    hubNames: config.serverNames,
    recoveryGraceMs: config.recoveryGraceMs,
    limits: config.limits,
    isTrustedProxy: config.isTrustedProxy,
    meters,
    findEventRoom: createFreeSpaceCheck({
      directory: vaultRoot,
      floorBytes: config.limits.freeSpaceBytes,
      clock,
      log: logging.forModule('hub.disk'),
    }),
  })
  let admin: AdminDoors | undefined
  const rootSetHub = createRootSetHub({
    authority: caClient,
    tls,
    mtls: ports.mtls,
    certificate,
    store,
    vaultRoot,
    onServerCertificate: (renewed) => admin?.replaceCertificate(renewed),
  })
  const changes = createFleetChanges(store, ports.mtls.streams)
  const background = await startBackground({
    config,
    store,
    authority,
    clock,
    logging,
    tls,
    rootSetHub,
    polls,
    streams: ports.mtls.streams,
    changes,
  })
  let metrics: MetricsServer | undefined
  // All at once: one grace for everything that is under way.
  opened.defer(async () => {
    await Promise.all([
      background.stop(),
      ...Object.values(ports).map((port) => port.close(CLOSE_GRACE_MS)),
      admin?.close(CLOSE_GRACE_MS),
      metrics?.close(),
    ])
  })
  const bound = {
    health: await listen(ports.health, config.healthBind, 'SVC_HEALTH_BIND'),
    enroll: await listen(ports.enroll, config.enrollBind, 'SVC_ENROLL_BIND'),
    mtls: await listen(ports.mtls, config.mtlsBind, 'SVC_MTLS_BIND'),
  }
  metrics = await listenForMetrics(config, logging, meters, {
    onUrl: (url, address) => leakedTokens.endTokenIn(url, { port: 'metrics', address }),
    reader: store.reader,
    clock,
    vaultRoot,
    databasePath: vault.databasePath,
    freeSpaceFloorBytes: config.limits.freeSpaceBytes,
    thresholdMs: config.renewalThresholdMs,
    certificatesMax: config.metricsCertificates,
    serverNotAfter: () => rootSetHub.serverCertificate.notAfter,
    countStreams: () => ports.mtls.streams.count,
    countConnections: async () => ({
      health: await ports.health.countConnections(),
      enroll: await ports.enroll.countConnections(),
      mtls: await ports.mtls.countConnections(),
      admin: (await admin?.countConnections()) ?? 0,
    }),
  })
  admin = await openAdminDoors({
    config,
    socketPath: vaultFiles(vaultRoot).adminSocket,
    clock,
    logging,
    certificate,
    meters,
    leakedTokens,
    operations: {
      store,
      clock,
      polls,
      addresses: agentAddresses(config.serverNames, bound),
      hubNames: config.serverNames,
      contentBytesMax: config.contentBytesMax,
      renewalThresholdMs: config.renewalThresholdMs,
      notifier: ports.mtls.streams,
      changes,
      webhooks: background.webhooks,
      roots: createAdminRoots({
        store,
        clock,
        log: trustLog,
        current: roots,
        readFileRoots,
        hub: rootSetHub,
      }),
      onAgentRevoked: (agentId) => {
        ports.mtls.cutConnections(agentId)
        background.revoker.wake()
      },
    },
  })
  // It may have been renewed meanwhile.
  admin.replaceCertificate(rootSetHub.serverCertificate)
  // Whoever waits for these lines may use the admin socket at once.
  logListening(log, { ...bound, admin: admin.bound, metrics: metrics?.address })
  const running = opened.move()
  return { close: () => running.disposeAsync() }
}

/** A CA would answer 401; with a certificate on disk it may be a day until it is asked. */
function warnOfOtherKid({ caProvisionerKey, caProvisionerKid }: HubConfig, log: Logger): void {
  const { kid } = caProvisionerKey.reveal()
  if (kid === undefined || kid === caProvisionerKid) return
  const fields = { kid: caProvisionerKid, kid_of_key: kid }
  log.warn(fields, 'SVC_CA_PROVISIONER_KID is not the one that SVC_CA_PROVISIONER_KEY names')
}

/** In this order. */
function logListening(
  log: Logger,
  ports: Readonly<Record<'health' | 'enroll' | 'mtls', BindAddress>> &
    Readonly<Record<'admin' | 'metrics', BindAddress | undefined>>,
): void {
  for (const [address, message] of [
    [ports.health, bootMessages.healthListening],
    [ports.enroll, bootMessages.enrollListening],
    [ports.mtls, bootMessages.mtlsListening],
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

/** An address that nobody asked for is not worth a hub that does not start. */
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
    log.warn({ reason: describeError(failure) }, 'Metrics not served, SVC_METRICS_BIND moves them')
    return undefined
  }
}
