// One kind of fault, several times, on one cluster and its hubs, under load all the while; then the judgement.

import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { systemClock } from '../../src/platform/clock.ts'
import { describeError } from '../../src/platform/errors.ts'
import { buildHubProgram } from '../../reliability/support/hub-program.ts'
import { createSeededRandom } from '../simulation/seeded-random.ts'
import { readEvents } from '../support/audit-log.ts'
import { waitUntil } from '../support/processes.ts'
import { startScriptedCa } from '../support/scripted-ca.ts'
import { Clients } from './clients.ts'
import { type CommitProxy, startCommitProxy } from './commit-proxy.ts'
import { type DatabaseCluster, startDatabaseCluster } from './database-cluster.ts'
import { type Fault, FAULTS, type FaultName } from './faults.ts'
import { judge, type Judgement, readWhatIsLeft } from './judgement.ts'
import { startLoad, WITHOUT_RATES } from './load.ts'
import type { Entry } from './operation.ts'
import { measureOutage, type Outage } from './outage.ts'
import type { ReplicationMode } from './reference-settings.ts'
import { type SharedHubs, startSharedHubs } from './shared-hubs.ts'

export interface TrialOptions {
  readonly fault: FaultName
  readonly hubs: number
  readonly replication: ReplicationMode
  readonly seed: number
  readonly times: number
  /** Under load before and after each fault. */
  readonly seconds: number
  readonly programs: string | undefined
  readonly etcd: string | undefined
  progress(this: void, text: string): void
}

export interface Trial extends Judgement {
  readonly outages: readonly Outage[]
}

/** Of a fault that is over. */
const RECOVERY_MS_MAX = 30_000
const AFTER_MS = 2000
/** A trial of hundreds of kills takes longer than the certificates of other tests live. */
const CA = { lifeMs: 86_400_000 }

export async function tryFault(options: TrialOptions): Promise<Trial> {
  await using stack = new AsyncDisposableStack()
  const { replication, programs, etcd, progress } = options
  const fault: Fault = FAULTS[options.fault]
  const random = createSeededRandom(options.seed)
  const directory = await mkdtemp(join(tmpdir(), 'cluster-trial-'))
  stack.defer(() => rm(directory, { recursive: true, force: true }))
  const program = await buildHubProgram(directory)
  const ca = stack.use(await startScriptedCa(() => ({ kind: 'sign' }), undefined, CA))
  progress('starting the cluster')
  const isInTheClear = fault.needsProxy === true
  const cluster = stack.use(
    await startDatabaseCluster({
      replication,
      programs,
      etcd,
      isInTheClear,
      diskBytes: fault.diskBytes,
    }),
  )
  const proxy = isInTheClear
    ? stack.use(
        await startCommitProxy(
          cluster.nodes.map(({ address }) => address),
          random,
        ),
      )
    : undefined
  progress('starting the hubs')
  const shared = stack.use(
    await startSharedHubs({
      count: options.hubs,
      databaseUrl: proxy === undefined ? cluster.url : urlOf(proxy, cluster),
      program,
      caEnvironment: ca.environment,
      environment: WITHOUT_RATES,
    }),
  )
  const clients = new Clients(shared.hubs, random)
  const load = await startLoad(clients)
  // Also when something goes wrong here.
  stack.defer(() => load.stop())
  const outages: Outage[] = []
  const broken: string[] = []
  for (let time = 1; time <= options.times; time += 1) {
    try {
      const outage = await strike({ fault, options, cluster, shared, proxy, clients })
      progress(`${time} of ${options.times}: ${describeOutage(outage)}`)
      outages.push(outage)
    } catch (error) {
      // What was done until then is judged all the same.
      broken.push(`strike ${time} broke off: ${describeError(error)}`)
      break
    }
  }
  await load.stop()
  progress('comparing')
  const logsOfHubs: Entry[][] = []
  for (const hub of shared.hubs) if (!hub.hasEnded()) logsOfHubs.push(await readEvents(hub))
  // As the journal has it, not as a hub remembers it.
  const left = await readWhatIsLeft(shared.askNewVault)
  return { outages, ...judge(clients, { ...left, logsOfHubs }, [...broken, ...listEnded(shared)]) }
}

interface Strike {
  readonly fault: Fault
  readonly options: TrialOptions
  readonly cluster: DatabaseCluster
  readonly shared: SharedHubs
  readonly proxy: CommitProxy | undefined
  readonly clients: Clients
}

async function strike(scene: Strike): Promise<Outage> {
  const { fault, options, cluster, shared, proxy, clients } = scene
  const { hubs } = shared
  await cluster.becomeWhole()
  await systemClock.sleep(options.seconds * 1000)
  const fromMs = clients.nowMs()
  await fault.strike({ cluster, hubs, proxy, random: clients.random })
  const overMs = clients.nowMs()
  // A hub whose journal lost something never writes again.
  const isTooLate = (): boolean => clients.nowMs() > overMs + RECOVERY_MS_MAX
  const isOver = (): boolean => clients.hasWrittenSince(overMs) || isTooLate()
  await waitUntil('a write after the fault', () => isOver() || undefined, 2 * RECOVERY_MS_MAX)
  await systemClock.sleep(options.seconds * 1000)
  // What is acknowledged after that shows that a host is still there.
  const toMs = clients.nowMs()
  await systemClock.sleep(AFTER_MS)
  return measureOutage(clients.operations, { fromMs, toMs })
}

function listEnded({ hubs }: SharedHubs): string[] {
  return hubs.flatMap((hub, index) =>
    hub.hasEnded() ? [`hub ${index + 1} ended: ${hub.logText().slice(-1000)}`] : [],
  )
}

function urlOf({ ports }: CommitProxy, cluster: DatabaseCluster): string {
  const url = new URL(cluster.url.replace(/@[^/]+/, '@hosts'))
  const hosts = ports.map((port) => `127.0.0.1:${port}`).join(',')
  return `postgresql://${url.username}:${url.password}@${hosts}${url.pathname}`
}

export function describeOutage({ writesMs, pollsMs, hostMs }: Outage): string {
  const seconds = (ms: number): string => `${(ms / 1000).toFixed(1)} s`
  return `${seconds(writesMs)} without writes, ${seconds(pollsMs)} without polls, ${seconds(hostMs)} without an event of one host`
}
