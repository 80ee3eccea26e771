// How long things take to start, and what they hold in memory when nothing happens; each against a bare Node.

import { spawnSync } from 'node:child_process'
import { existsSync } from 'node:fs'
import { join } from 'node:path'
import { performance } from 'node:perf_hooks'
import { fileURLToPath } from 'node:url'
import { connectToHub } from '../src/admin/socket-client.ts'
import { systemClock } from '../src/platform/clock.ts'
import { UserError } from '../src/platform/errors.ts'
import { type Daemon, residentMegabytes, startDaemon } from './daemon.ts'
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
  await using agent = existsSync(AGENT_MAIN) ? await startAgent(world) : undefined
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

async function startAgent(world: World): Promise<Daemon> {
  const hostname = 'bench-agent'
  const environment = {
    SVC_SERVER_URL: world.enrollUrl,
    SVC_SERVER_MTLS_URL: `https://localhost:${world.mtlsAddress.split(':')[1]}`,
    SVC_AGENT_DATA_DIR: join(world.directory, 'agent'),
    SVC_AGENT_HOSTNAME: hostname,
    SVC_AGENT_ROLE: 'bench',
    SVC_ENROLL_TOKEN: await createToken(world, hostname),
  }
  const enrolled = spawnSync(binary('svc-agent'), ['enroll'], {
    env: { PATH: process.env['PATH'], ...environment },
    encoding: 'utf8',
  })
  if (enrolled.status !== 0) throw new UserError('bench', `svc-agent enroll: ${enrolled.stderr}`)
  return startDaemon({
    command: [binary('svc-agent'), 'run'],
    environment,
    logPath: join(world.directory, 'agent.log'),
    readyMessage: 'msg',
  })
}

async function createToken({ directory }: World, hostname: string): Promise<string> {
  const session = await connectToHub(join(directory, 'vault', 'admin.sock'))
  if (session === undefined) throw new UserError('bench', 'the hub does not answer its socket')
  return (await session.operations.createToken({ hostname, role: 'bench' })).token
}
