// How soon a push is on a disk, while a fleet holds its streams.

import { access } from 'node:fs/promises'
import { join } from 'node:path'
import { performance } from 'node:perf_hooks'
import { systemClock } from '../src/platform/clock.ts'
import { UserError } from '../src/platform/errors.ts'
import type { AdminOperations } from '../src/protocol/admin/operations.ts'
import { benchAgentData, operationsOf, startBenchAgent } from './agent.ts'
import { cpuMsOfTree } from './cpu-of-tree.ts'
import type { Daemon } from './daemon.ts'
import { type Figure, valueFigure } from './figure.ts'
import { startWorld, type World, type WorldOptions } from './world.ts'

const STREAMS = 1000
const SETTLE_MS = 5000
const PUSHES = 120
/** Of one agent: it makes one round a second at most for what is pushed. */
const PUSH_INTERVAL_MS = 1500
const REAL_AGENTS = 4
const LANDING_MS_MAX = 30_000

export async function measurePushLatency(options: WorldOptions): Promise<Figure[]> {
  await using world = await startWorld(options)
  await world.load.send({ do: 'hold-streams', count: STREAMS })
  const operations = await operationsOf(world)
  const hostnames = Array.from({ length: REAL_AGENTS }, (_, number) => `bench-real-${number}`)
  await using stack = new AsyncDisposableStack()
  const agents: Daemon[] = []
  for (const hostname of hostnames) {
    agents.push(stack.use(await startBenchAgent(world, hostname)))
  }
  await systemClock.sleep(SETTLE_MS)
  const spentBefore = [await cpuMsOf([world.hub]), await cpuMsOf(agents)] as const
  const landings: number[] = []
  for (let push = 0; push < PUSHES; push += 1) {
    const hostname = hostnames[push % REAL_AGENTS] ?? ''
    landings.push(await pushOnce(world, operations, hostname, `site-${push}`))
    await systemClock.sleep(PUSH_INTERVAL_MS / REAL_AGENTS)
  }
  const each = (after: number, before: number): string => ((after - before) / PUSHES).toFixed(0)
  const hubMs = each(await cpuMsOf([world.hub]), spentBefore[0])
  const agentMs = each(await cpuMsOf(agents), spentBefore[1])
  await world.load.send({ do: 'check-streams' })
  landings.sort((a, b) => a - b)
  const at = (share: number): number => landings[Math.ceil(landings.length * share) - 1] ?? 0
  return [
    valueFigure({
      row: 'push-latency',
      what: `carga create to file, ${STREAMS} agents connected, p99 of ${PUSHES}`,
      value: at(0.99),
      unit: 'ms by the clock',
      aim: { atMost: 250 },
      note: `median ${at(0.5).toFixed(0)}, most ${at(1).toFixed(0)} ms; CPU a push: hub ${hubMs}, agent ${agentMs} ms`,
    }),
  ]
}

async function cpuMsOf(daemons: readonly Daemon[]): Promise<number> {
  const spent = await Promise.all(daemons.map(({ pid }) => cpuMsOfTree(pid)))
  return spent.reduce((sum, ms) => sum + ms, 0)
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
