// How the hub is, and since when: what /readyz answers and `svc status` shows first. docs/protocol.md MET-3, API-40.

import { statfs } from 'node:fs/promises'
import type { Clock } from '../../platform/clock.ts'
import type { Readiness } from '../../platform/metrics-server.ts'
import type { AdminHubHealth } from '../../protocol/admin/views.ts'
import type { StandbyState } from '../../protocol/standby.ts'
import type { StoreReader } from '../store/store.ts'
import type { CaCalls } from './ca-calls.ts'
import { decideReadiness, readLastEntries } from './hub-readiness.ts'

export interface HubHealthOptions {
  readonly clock: Clock
  readonly reader: StoreReader
  /** Throws where what the reader sees may not be current: of a hub that shares its vault. */
  readonly requireCurrent?: (() => void) | undefined
  readonly caCalls: Pick<CaCalls, 'last'>
  readonly vaultRoot: string
  /** `Number.POSITIVE_INFINITY` where it is lifted. */
  readonly freeSpaceFloorBytes: number
  /** Undefined where there is none. */
  readonly standby?: {
    readonly state: () => StandbyState
    readonly reason: () => string | undefined
  }
  /** Of the hub itself; undefined while it waits for its first one. */
  readonly certificate: () => { readonly notBefore: Date; readonly notAfter: Date } | undefined
}

export interface HubHealth {
  checkReadiness(this: void): Promise<Readiness>
  /** The same for operators, with what may become a reason. */
  describe(this: void): Promise<AdminHubHealth>
  /** Looks now and then, to know since when something is wrong. */
  run(this: void, signal: AbortSignal): Promise<void>
}

const LOOK_INTERVAL_MS = 30_000
/** A hub renews in the last third of a certificate's life; half of that is over. */
const LATE_SHARE = 1 / 6
/** So many entries are waiting in an ordinary burst, too. */
const BACKLOG_ENTRIES = 1000

export function createHubHealth(options: HubHealthOptions): HubHealth {
  const { clock, reader, caCalls, vaultRoot, freeSpaceFloorBytes: floor, certificate } = options
  const since = new Map<string, Date>()
  const withSince = (now: Date, readiness: Readiness): Readiness =>
    Object.fromEntries(
      Object.entries(readiness).map(([name, subsystem]) => {
        if (subsystem.isReady) {
          since.delete(name)
          return [name, subsystem]
        }
        const first = subsystem.since ?? since.get(name) ?? now
        since.set(name, first)
        return [name, { ...subsystem, since: first }]
      }),
    )
  const checkReadiness = async (): Promise<Readiness> => {
    const facts = {
      lastEntries: await readLastEntries(reader, options.requireCurrent),
      freeBytes: await measureFreeBytes(vaultRoot),
      floorBytes: Number.isFinite(floor) ? floor : 0,
      lastCaCall: caCalls.last,
      serverNotAfter: certificate()?.notAfter,
    }
    const now = clock.now()
    return withSince(now, decideReadiness({ ...facts, now }))
  }
  return {
    checkReadiness,
    describe: async () => {
      const readiness = Object.entries(await checkReadiness())
      return {
        ready: readiness.every(([, { isReady }]) => isReady),
        subsystems: readiness.map(([name, { isReady, reason, since: first }]) => ({
          name,
          ready: isReady,
          reason,
          since: first?.toISOString() ?? null,
        })),
        remarks: [
          ...describeLateness(certificate(), clock.now()),
          ...describeStandby(options.standby),
          ...(await listBacklogs(reader)),
        ],
      }
    },
    run: async (signal) => {
      while (!signal.aborted) {
        await checkReadiness().catch(() => undefined)
        await clock.sleep(LOOK_INTERVAL_MS, signal).catch(() => undefined)
      }
    },
  }
}

function describeLateness(
  certificate: ReturnType<HubHealthOptions['certificate']>,
  now: Date,
): string[] {
  if (certificate === undefined) return []
  const [startMs, endMs] = [certificate.notBefore.getTime(), certificate.notAfter.getTime()]
  if (endMs - now.getTime() >= (endMs - startMs) * LATE_SHARE) return []
  return [
    `the hub’s own certificate ends at ${certificate.notAfter.toISOString()} and is renewed late`,
  ]
}

function describeStandby(standby: HubHealthOptions['standby']): string[] {
  const state = standby?.state() ?? 'together'
  if (state === 'together') return []
  const what =
    state === 'apart' ? 'the hub writes nothing without its standby' : 'the standby lacks writes'
  return [`${what}: ${standby?.reason() ?? 'it was never there'}`]
}

async function listBacklogs(reader: StoreReader): Promise<string[]> {
  const lastSeq = (await reader.findChainEnd())?.seq ?? 0
  const webhooks = await reader.webhooks.list()
  return webhooks.flatMap(({ id, disabledAt, progress }) => {
    const waiting = lastSeq - progress.cursorSeq
    return disabledAt === null && waiting > BACKLOG_ENTRIES
      ? [`webhook ${id} is ${waiting} entries behind the log`]
      : []
  })
}

/** Or why it cannot be measured. */
export async function measureFreeBytes(directory: string): Promise<number | Error> {
  return statfs(directory).then(
    ({ bavail, bsize }) => bavail * bsize,
    (error: Error) => error,
  )
}
