// A CA, a hub and agents as processes of their own, each by a clock that can be set.

import { mkdir } from 'node:fs/promises'
import { join } from 'node:path'
import { createDelivery } from '../../test/support/deliveries.ts'
import { findFreePort } from '../../test/support/free-port.ts'
import { type HubProcess, startHubProcess } from '../../test/support/hub-process.ts'
import { enrolHost, type ManagedHost } from '../../test/support/managed-host.ts'
import { pathOfProgram, runTool, type RunningProgram } from '../../test/support/processes.ts'
import { startCaProcess } from '../../test/support/running-ca.ts'
import { createFakedClock, type FakedClock } from './faked-clock.ts'

export interface ClockedAgent {
  readonly host: ManagedHost
  readonly clock: FakedClock
  /** Kills it and starts it again. */
  restart(): Promise<void>
  hasEnded(): boolean
}

export interface ClockedWorld extends AsyncDisposable {
  readonly hub: HubProcess
  readonly hubClock: FakedClock
  readonly caClock: FakedClock
  readonly agents: readonly ClockedAgent[]
}

/** So short that two hours make every certificate due, and so long that they do not end it. */
const CERTIFICATE_LIFE = '150m'
/** The hub's own certificate is older than any agent's clock is behind, as it mostly is. */
const HUB_AGE_MS = 30 * 60_000
/** Older than any step back. */
const CA_AGE_MS = 5 * 3_600_000

interface ClockedWorldOptions {
  readonly directory: string
  readonly library: string
  /** How far off the clock of each agent is. */
  readonly agentOffsetsMs: readonly number[]
}

export async function startClockedWorld(options: ClockedWorldOptions): Promise<ClockedWorld> {
  const { directory, library, agentOffsetsMs } = options
  await mkdir(directory, { recursive: true })
  const clockOf = (name: string): Promise<FakedClock> =>
    createFakedClock(library, join(directory, `clock-${name}`))
  const stack = new AsyncDisposableStack()
  try {
    const caClock = await clockOf('ca')
    const hubClock = await clockOf('hub')
    await caClock.set(-CA_AGE_MS)
    await hubClock.set(-HUB_AGE_MS)
    const caEnvironment = await startClockedCa(join(directory, 'ca'), caClock, stack)
    await caClock.set(-HUB_AGE_MS)
    const environment = { ...hubClock.environment, SVC_SERVER_CN: 'localhost' }
    const hub = stack.use(await startHubProcess({ caEnvironment, environment }))
    await caClock.set(0)
    await hubClock.set(0)
    const agents: ClockedAgent[] = []
    for (const [index, offsetMs] of agentOffsetsMs.entries()) {
      const clock = await clockOf(`agent-${index}`)
      const host = stack.use(await enrolHost(hub, `agent-${index}`, clock.environment))
      await createDelivery(hub, host.hostname, 'site')
      await clock.set(offsetMs)
      agents.push(runAgent(host, clock))
    }
    return { hub, hubClock, caClock, agents, [Symbol.asyncDispose]: () => stack.disposeAsync() }
  } catch (error) {
    await stack.disposeAsync()
    throw error
  }
}

function runAgent(host: ManagedHost, clock: FakedClock): ClockedAgent {
  let running: RunningProgram = host.run()
  return {
    host,
    clock,
    restart: async () => {
      running.kill('SIGKILL')
      await running.ended
      running = host.run()
    },
    hasEnded: () => running.hasEnded(),
  }
}

async function startClockedCa(
  directory: string,
  clock: FakedClock,
  stack: AsyncDisposableStack,
): Promise<Readonly<Record<string, string>>> {
  const program = pathOfProgram('svc-ca')
  const listen = `127.0.0.1:${await findFreePort()}`
  const variables = Object.entries(clock.environment).map(([name, value]) => `${name}=${value}`)
  const init = ['init', '--dir', directory, '--listen', listen, '--cert-duration', CERTIFICATE_LIFE]
  const made = await runTool('env', [...variables, program, ...init, '--json'])
  const environment = JSON.parse(made) as Record<'SVC_CA_URL' | 'SVC_CA_ROOT_CA_PATH', string>
  const ca = await startCaProcess('env', [...variables, program, 'serve', '--dir', directory], {
    url: environment.SVC_CA_URL,
    rootPath: environment.SVC_CA_ROOT_CA_PATH,
  })
  stack.defer(() => ca.stop())
  return environment
}
