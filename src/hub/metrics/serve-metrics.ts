// The metrics port of a hub: what is measured when a client asks, and readiness.

import { stat } from 'node:fs/promises'
import type { BindAddress } from '../../platform/bind-address.ts'
import type { Clock } from '../../platform/clock.ts'
import type { Logger } from '../../platform/logger.ts'
import {
  type MetricsServer,
  type MetricsServerOptions,
  type Readiness,
  startMetricsServer,
} from '../../platform/metrics-server.ts'
import { readVersion } from '../../platform/version.ts'
import type { StoreReader } from '../store/store.ts'
import { STANDBY_STATES, type StandbyState } from '../../protocol/standby.ts'
import { collectJournal, type JournalSeen } from './collect-journal.ts'
import { createFleetCollector, type FleetCollectorOptions } from './collect-fleet.ts'
import { CHECKPOINT_PLACES, type CheckpointPlace } from './hub-metrics.ts'
import type { HubMeters } from './hub-meters.ts'
import { measureFreeBytes } from './hub-health.ts'

export interface HubMetricsOptions {
  readonly meters: HubMeters
  readonly reader: StoreReader
  readonly clock: Clock
  readonly log: Logger
  readonly vaultRoot: string
  readonly databasePath: string
  /** `Number.POSITIVE_INFINITY` where it is lifted. */
  readonly freeSpaceFloorBytes: number
  readonly thresholdMs: number
  readonly certificatesMax: number
  /** Of the certificate that is served now. */
  readonly serverNotAfter: () => Date | undefined
  readonly checkReadiness: () => Promise<Readiness>
  /** When the newest checkpoint covered the whole log last, by place. */
  readonly checkpointAt: () => Readonly<Partial<Record<CheckpointPlace, Date | undefined>>>
  /** Undefined when the hub makes none by itself. */
  readonly isArchiveFailing?: () => boolean
  /** By state; nothing before somebody has looked. */
  readonly countSegments?: () => Readonly<Record<string, number>>
  readonly backups?:
    | { readonly intervalMs: number; readonly lastAt: () => Date | undefined }
    | undefined
  readonly journal?: JournalSeen | undefined
  readonly standby?: (() => StandbyState) | undefined
  readonly countStreams: () => number
  readonly listDoubled?: FleetCollectorOptions['listDoubled']
  readonly countConnections: () => Promise<Readonly<Record<string, number>>>
  /** Sees the URL of each request before its answer. */
  readonly onUrl?: MetricsServerOptions['onUrl']
}

/** Rejects with the system's error when the address cannot be bound. */
export function serveHubMetrics(
  address: BindAddress,
  options: HubMetricsOptions,
): Promise<MetricsServer> {
  const { meters, clock, log } = options
  const fleet = createFleetCollector({ ...options, set: meters.set })
  const startedAtMs = clock.now().getTime() - process.uptime() * 1000
  let lastUtilization = performance.eventLoopUtilization()
  const collectProcess = (): void => {
    const { set } = meters
    const { user, system } = process.cpuUsage()
    const utilization = performance.eventLoopUtilization()
    const sinceLast = performance.eventLoopUtilization(utilization, lastUtilization)
    lastUtilization = utilization
    const gauges = {
      process_resident_memory_bytes: process.memoryUsage.rss(),
      process_start_time_seconds: startedAtMs / 1000,
      svc_event_loop_utilization_ratio: sinceLast.utilization,
    } as const
    for (const [name, value] of Object.entries(gauges)) {
      // It has the keys of the object.
      set.replace(name as keyof typeof gauges, [{ labels: {}, value }])
    }
    set.replace('process_cpu_seconds_total', [{ labels: {}, value: (user + system) / 1e6 }])
    set.replace('svc_build_info', [{ labels: { version: readVersion() }, value: 1 }])
  }
  return startMetricsServer(address, {
    log,
    onUrl: options.onUrl,
    onRefusal: (status) =>
      meters.onRefusal('metrics', status === 404 ? 'route_not_found' : 'method_not_allowed'),
    checkReadiness: options.checkReadiness,
    render: async () => {
      collectProcess()
      await fleet.collect()
      await collectHub(options)
      return meters.set.render()
    },
  })
}

async function collectHub(options: HubMetricsOptions): Promise<void> {
  const { meters, reader, databasePath, serverNotAfter } = options
  const { set } = meters
  const setOne = (name: SingleGauge, value: number | undefined): void =>
    set.replace(name, value === undefined ? [] : [{ labels: {}, value }])
  const seriesOf = <Label extends string>(label: Label, counts: Readonly<Record<string, number>>) =>
    Object.entries(counts).map(([name, value]) => ({
      labels: { [label]: name } as Record<Label, string>,
      value,
    }))

  set.replace('svc_connections', seriesOf('port', await options.countConnections()))
  const last = await reader.findChainEnd()
  setOne('svc_audit_last_seq', last?.seq ?? 0)
  setOne('svc_audit_last_entry_timestamp_seconds', secondsOf(last && new Date(last.timestamp)))
  set.replace(
    'svc_audit_checkpoint_timestamp_seconds',
    CHECKPOINT_PLACES.flatMap((place) => {
      const at = options.checkpointAt()[place]
      return at === undefined ? [] : [{ labels: { place }, value: at.getTime() / 1000 }]
    }),
  )
  setOne('svc_audit_oldest_entry_timestamp_seconds', secondsOf(await findOldestAt(reader)))
  set.replace('svc_log_segments', seriesOf('state', options.countSegments?.() ?? {}))
  setOne('svc_log_archive_failed', options.isArchiveFailing?.() === true ? 1 : 0)
  setOne('svc_backup_interval_seconds', (options.backups?.intervalMs ?? 0) / 1000)
  setOne('svc_backup_timestamp_seconds', (options.backups?.lastAt()?.getTime() ?? 0) / 1000)
  collectJournal(set, options.journal)
  const standby = options.standby?.()
  set.replace(
    'svc_standby_state',
    (standby === undefined ? [] : STANDBY_STATES).map((state) => ({
      labels: { state },
      value: state === standby ? 1 : 0,
    })),
  )
  setOne('svc_streams', options.countStreams())
  const webhooks = await reader.webhooks.list()
  set.replace(
    'svc_webhook_backlog_entries',
    webhooks.map(({ id, progress }) => ({
      labels: { webhook: id },
      value: Math.max(0, (last?.seq ?? 0) - progress.cursorSeq),
    })),
  )
  const dead = []
  for (const { id } of webhooks) {
    dead.push({ labels: { webhook: id }, value: await reader.webhooks.countDead(id) })
  }
  set.replace('svc_webhook_dead_messages', dead)
  const sizes = {
    database: await sizeOf(databasePath),
    wal: await sizeOf(`${databasePath}-wal`),
  }
  set.replace('svc_database_size_bytes', seriesOf('file', sizes))
  const freeBytes = await measureFreeBytes(options.vaultRoot)
  setOne('svc_vault_free_bytes', freeBytes instanceof Error ? undefined : freeBytes)
  setOne('svc_vault_free_floor_bytes', floorOf(options))
  setOne('svc_server_certificate_not_after_timestamp_seconds', secondsOf(serverNotAfter()))
  setOne('svc_ca_last_success_timestamp_seconds', secondsOf(meters.lastCaSuccess))
  const readiness = await options.checkReadiness()
  const ready = Object.entries(readiness).map(([name, { isReady }]) => [name, isReady ? 1 : 0])
  set.replace('svc_ready', seriesOf('subsystem', Object.fromEntries(ready)))
}

/** Of the entries in the vault, which no segment has to be read for. */
async function findOldestAt(reader: StoreReader): Promise<Date | undefined> {
  const first = await reader.findFirstSeq()
  const [entry] = first === undefined ? [] : await reader.findEntries([first])
  return entry && new Date(entry.timestamp)
}

type SingleGauge =
  | 'svc_audit_oldest_entry_timestamp_seconds'
  | 'svc_streams'
  | 'svc_backup_timestamp_seconds'
  | 'svc_log_archive_failed'
  | 'svc_backup_interval_seconds'
  | 'svc_audit_last_seq'
  | 'svc_audit_last_entry_timestamp_seconds'
  | 'svc_vault_free_bytes'
  | 'svc_vault_free_floor_bytes'
  | 'svc_server_certificate_not_after_timestamp_seconds'
  | 'svc_ca_last_success_timestamp_seconds'

function floorOf({ freeSpaceFloorBytes }: HubMetricsOptions): number {
  return Number.isFinite(freeSpaceFloorBytes) ? freeSpaceFloorBytes : 0
}

function secondsOf(instant: Date | undefined): number | undefined {
  return instant === undefined ? undefined : instant.getTime() / 1000
}

/** Zero for one that is not there, as the write-ahead log after a clean stop. */
async function sizeOf(path: string): Promise<number> {
  return stat(path).then(
    ({ size }) => size,
    () => 0,
  )
}
