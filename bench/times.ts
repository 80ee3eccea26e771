// How long things take to start, and what they hold in memory when nothing happens; each against a bare Node.

import { spawnSync } from 'node:child_process'
import { existsSync } from 'node:fs'
import { performance } from 'node:perf_hooks'
import { fileURLToPath } from 'node:url'
import { systemClock } from '../src/platform/clock.ts'
import { UserError } from '../src/platform/errors.ts'
import { startBenchAgent } from './agent.ts'
import { type Daemon, residentMegabytes } from './daemon.ts'
import { type Ratio, ratioOf, type Round } from './ratio.ts'
import {
  binary,
  startBareServer,
  startHub,
  startWorld,
  type World,
  type WorldOptions,
} from './world.ts'

export interface TimeResult extends Ratio {
  readonly what: string
  readonly yardstickName: string
  readonly unit: string
}

const ROUNDS = 7
const IDLE_MS = 5000
const NODE = fileURLToPath(new URL('../node_modules/.bin/node', import.meta.url))
const AGENT_MAIN = fileURLToPath(new URL('../src/agent/main.ts', import.meta.url))

export async function measureTimes(options: WorldOptions): Promise<TimeResult[]> {
  await using world = await startWorld(options)
  const memory = await measureMemory(world)
  await world.hub[Symbol.asyncDispose]()
  return [...(await measureStarts(world)), ...memory]
}

async function measureStarts({ environment, hubLogPath }: World): Promise<TimeResult[]> {
  const hubRounds: Round[] = []
  const versionRounds: Round[] = []
  for (let round = 0; round < ROUNDS; round += 1) {
    const yardstick = wallMs(NODE, ['-e', '0'])
    versionRounds.push({ yardstick, subject: wallMs(binary('svc'), ['--version']) })
    await using hub = await startHub(environment, hubLogPath)
    hubRounds.push({ yardstick, subject: hub.readyMs })
  }
  const common = { yardstickName: 'node -e 0', unit: 'ms' }
  return [
    { ...common, what: 'hub ready, certificate on disk', ...ratioOf(hubRounds) },
    { ...common, what: 'svc --version', ...ratioOf(versionRounds) },
  ]
}

function wallMs(program: string, args: readonly string[]): number {
  const startedMs = performance.now()
  const { status } = spawnSync(program, args, { stdio: 'ignore' })
  if (status !== 0) throw new UserError('bench', `${program} ${args.join(' ')} failed`)
  return performance.now() - startedMs
}

async function measureMemory(world: World): Promise<TimeResult[]> {
  await using bare = await startBareServer(world)
  await using agent = existsSync(AGENT_MAIN)
    ? await startBenchAgent(world, 'bench-agent')
    : undefined
  await systemClock.sleep(IDLE_MS)
  const yardstick = await residentMegabytes(bare.pid)
  const common = { yardstickName: 'bare node:https server', unit: 'MB' }
  const rowOf = async (what: string, { pid }: Daemon): Promise<TimeResult> => ({
    ...common,
    what,
    ...ratioOf([{ yardstick, subject: await residentMegabytes(pid) }]),
  })
  return [
    await rowOf('hub resident, idle', world.hub),
    ...(agent === undefined ? [] : [await rowOf('agent resident, idle', agent)]),
  ]
}
