// What a fleet that holds its streams costs the hub, and how soon a push is on a disk.

import { access } from 'node:fs/promises'
import { join } from 'node:path'
import { performance } from 'node:perf_hooks'
import { systemClock } from '../src/platform/clock.ts'
import { UserError } from '../src/platform/errors.ts'
import type { AdminOperations } from '../src/protocol/admin/operations.ts'
import { benchAgentData, operationsOf, startBenchAgent } from './agent.ts'
import { cpuSeconds, type Daemon, residentMegabytes } from './daemon.ts'
import { startHub, startWorld, type World, type WorldOptions } from './world.ts'

export interface BoundedResult {
  readonly what: string
  readonly value: number
  readonly unit: string
  readonly valueMax: number
  readonly note: string
}

const STREAMS = 1000
const WARM_UP_STREAMS = 200
const SETTLE_MS = 5000
const PUSHES = 120
/** Of one agent: it makes one round a second at most for what is pushed. */
const PUSH_INTERVAL_MS = 1500
const REAL_AGENTS = 4
const LANDING_MS_MAX = 30_000

export async function measureStreamMemory(options: WorldOptions): Promise<BoundedResult> {
  await using world = await startWorld(options)
  const { load } = world
  await load.send({ do: 'enroll-agents', count: STREAMS })
  // What enrolling them left behind in the hub would be room for streams.
  await world.hub[Symbol.asyncDispose]()
  const environment = { ...world.environment, SVC_MTLS_BIND: world.mtlsAddress }
  await using hub = await startHub(environment, world.hubLogPath)
  await load.send({ do: 'hold-streams', count: WARM_UP_STREAMS })
  await load.send({ do: 'hold-streams', count: 0 })
  await systemClock.sleep(SETTLE_MS)
  const before = await residentMegabytes(hub.pid)
  await load.send({ do: 'hold-streams', count: STREAMS })
  await systemClock.sleep(SETTLE_MS)
  await load.send({ do: 'check-streams' })
  const after = await residentMegabytes(hub.pid)
  return {
    what: `stream-memory: each of ${STREAMS} held streams`,
    value: ((after - before) * 1000) / STREAMS,
    unit: 'KB',
    valueMax: 90,
    note: `resident ${before.toFixed(0)} to ${after.toFixed(0)} MB`,
  }
}

export async function measurePushLatency(options: WorldOptions): Promise<BoundedResult> {
  await using world = await startWorld(options)
  await world.load.send({ do: 'hold-streams', count: STREAMS })
  const operations = await operationsOf(world)
  const hostnames = Array.from({ length: REAL_AGENTS }, (_, number) => `bench-real-${number}`)
  await using stack = new AsyncDisposableStack()
  const agents: Daemon[] = []
  for (const hostname of hostnames) {
    agents.push(stack.use(await startBenchAgent(world, hostname, 'Stream up')))
  }
  await systemClock.sleep(SETTLE_MS)
  const spentBefore = [await cpuSecondsOf([world.hub]), await cpuSecondsOf(agents)] as const
  const landings: number[] = []
  for (let push = 0; push < PUSHES; push += 1) {
    const hostname = hostnames[push % REAL_AGENTS] ?? ''
    landings.push(await pushOnce(world, operations, hostname, `site-${push}`))
    await systemClock.sleep(PUSH_INTERVAL_MS / REAL_AGENTS)
  }
  const spentMs = (after: number, before: number): string =>
    (((after - before) * 1000) / PUSHES).toFixed(0)
  const hubMs = spentMs(await cpuSecondsOf([world.hub]), spentBefore[0])
  const agentMs = spentMs(await cpuSecondsOf(agents), spentBefore[1])
  await world.load.send({ do: 'check-streams' })
  landings.sort((a, b) => a - b)
  const at = (share: number): number => landings[Math.ceil(landings.length * share) - 1] ?? 0
  return {
    what: `push-latency: carga create to file, ${STREAMS} agents connected, p99 of ${PUSHES}`,
    value: at(0.99),
    unit: 'ms',
    valueMax: 250,
    note: `median ${at(0.5).toFixed(0)}, most ${at(1).toFixed(0)} ms; CPU a push: hub ${hubMs}, agent ${agentMs} ms`,
  }
}

async function cpuSecondsOf(daemons: readonly Daemon[]): Promise<number> {
  const spent = await Promise.all(daemons.map(({ pid }) => cpuSeconds(pid)))
  return spent.reduce((sum, seconds) => sum + seconds, 0)
}

async function pushOnce(
  world: World,
  operations: AdminOperations,
  hostname: string,
  nome: string,
): Promise<number> {
  const path = join(benchAgentData(world, hostname), 'out', `${nome}.crt`)
  const startedMs = performance.now()
  await operations.createCargo({
    tipo: 'csr_cert',
    nome,
    agentes: [hostname],
    roles: [],
    sans: [],
  })
  for (;;) {
    const isThere = await access(path).then(
      () => true,
      () => false,
    )
    const tookMs = performance.now() - startedMs
    if (isThere) return tookMs
    if (tookMs > LANDING_MS_MAX) throw new UserError('bench', `${nome} never came to ${hostname}`)
    await systemClock.sleep(1)
  }
}
