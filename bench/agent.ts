// A real agent beside the load generator, in a process of its own.

import { spawnSync } from 'node:child_process'
import { join } from 'node:path'
import { connectToHub } from '../src/admin/doors/socket-client.ts'
import { UserError } from '../src/platform/errors.ts'
import type { AdminOperations } from '../src/protocol/admin/operations.ts'
import { AGENT_MALLOC } from '../tools/build/agent-flags.ts'
import { type Daemon, startDaemon } from './daemon.ts'
import { binary, type World } from './world.ts'

/** On the host's disk; it runs as often as it is started. */
interface EnrolledAgent {
  readonly program: string
  readonly environment: Readonly<Record<string, string>>
  readonly logPath: string
}

/** Enrolled, running, and holding its stream. */
export async function startBenchAgent(
  world: World,
  hostname: string,
  program: string = binary('svc-agent'),
): Promise<Daemon> {
  return runBenchAgent(await enrolBenchAgent(world, hostname, program))
}

export async function enrolBenchAgent(
  world: World,
  hostname: string,
  program: string,
): Promise<EnrolledAgent> {
  const environment = {
    SVC_SERVER_URL: world.enrollUrl,
    SVC_SERVER_MTLS_URL: `https://localhost:${world.mtlsAddress.split(':')[1]}`,
    SVC_AGENT_DATA_DIR: benchAgentData(world, hostname),
    SVC_AGENT_HOSTNAME: hostname,
    SVC_AGENT_ROLE: 'bench',
    SVC_ENROLL_TOKEN: await createToken(world, hostname),
    // As its unit starts it.
    ...AGENT_MALLOC,
  }
  const enrolled = spawnSync(program, ['enroll'], {
    env: { PATH: process.env['PATH'], ...environment },
    encoding: 'utf8',
  })
  if (enrolled.status !== 0) throw new UserError('bench', `svc-agent enroll: ${enrolled.stderr}`)
  return { program, environment, logPath: join(world.directory, `${hostname}.log`) }
}

/** Ready when it holds its stream. */
export function runBenchAgent({ program, environment, logPath }: EnrolledAgent): Promise<Daemon> {
  return startDaemon({
    command: [program, 'run'],
    environment,
    logPath,
    readyMessage: 'Stream up',
  })
}

export function benchAgentData({ directory }: World, hostname: string): string {
  return join(directory, hostname)
}

async function createToken(world: World, hostname: string): Promise<string> {
  return (await (await operationsOf(world)).createToken({ hostname, role: 'bench' })).token
}

export async function operationsOf({ directory }: World): Promise<AdminOperations> {
  const session = await connectToHub(join(directory, 'vault', 'admin.sock'))
  if (session === undefined) throw new UserError('bench', 'the hub does not answer its socket')
  return session.operations
}
