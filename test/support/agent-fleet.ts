// Many agents in one process: each with a data directory, a session and rounds of its own, as `svc-agent run` has them.

import { mkdtemp, readFile, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { parseAgentConfig } from '../../src/agent/settings/config.ts'
import { createEnrollClient } from '../../src/agent/hub/enroll-client.ts'
import { enroll } from '../../src/agent/identity/enroll.ts'
import { type Identity, requireIdentity } from '../../src/agent/identity/identity.ts'
import { agentPaths, prepareDirectories } from '../../src/agent/settings/paths.ts'
import {
  openPollState,
  pollOnce,
  type PollResult,
  type PollState,
} from '../../src/agent/round/poll.ts'
import { openSession, rotateAndReport } from '../../src/agent/identity/session.ts'
import { systemClock } from '../../src/platform/clock.ts'
import { createLogging } from '../../src/platform/logger.ts'
import { Secret } from '../../src/platform/secret.ts'
import type { Hostname } from '../../src/protocol/identifiers.ts'
import { agentEnvironment } from './agent-environment.ts'
import type { TestHub } from './hub.ts'

export interface FleetAgent {
  readonly hostname: string
  identity(): Promise<Identity>
  caPem(): Promise<string>
  rotate(): Promise<unknown>
  /** A round of its own, after the one under way. */
  poll(): Promise<PollResult>
}

export interface AgentFleet extends AsyncDisposable {
  readonly agents: readonly FleetAgent[]
}

const PAUSE_MS = 400

/** Enrolled, and polling until the fleet is disposed of. */
export async function startAgentFleet(
  hub: Pick<TestHub, 'ports' | 'createToken'>,
  hostnames: readonly string[],
): Promise<AgentFleet> {
  const directory = await mkdtemp(join(tmpdir(), 'fleet-'))
  const stop = new AbortController()
  const logging = createLogging({ filter: { levelOf: () => 'off' }, format: 'json' })
  const loops: Promise<void>[] = []
  const states: PollState[] = []
  const agents: FleetAgent[] = []
  for (const hostname of hostnames) {
    const state = await openAgent(hub, join(directory, hostname), hostname, logging)
    let turn: Promise<unknown> = Promise.resolve()
    const poll = (): Promise<PollResult> => {
      const round = turn.then(() => pollOnce(state))
      turn = round.catch(() => undefined)
      return round
    }
    states.push(state)
    loops.push(keepPolling(poll, stop.signal))
    const { identityDir } = state.session.paths
    agents.push({
      hostname,
      identity: () => requireIdentity(identityDir),
      caPem: () => readFile(join(identityDir, 'ca.pem'), 'utf8'),
      rotate: () => rotateAndReport(state.session),
      poll,
    })
  }
  return {
    agents,
    [Symbol.asyncDispose]: async () => {
      stop.abort()
      await Promise.all(loops)
      await Promise.all(states.map(({ session }) => session.hub.close()))
      await rm(directory, { recursive: true, force: true })
    },
  }
}

async function keepPolling(poll: () => Promise<unknown>, stop: AbortSignal): Promise<void> {
  while (!stop.aborted) {
    await poll()
    await systemClock.sleep(PAUSE_MS * (0.5 + Math.random()), stop).catch(() => undefined)
  }
}

async function openAgent(
  hub: Pick<TestHub, 'ports' | 'createToken'>,
  dataDir: string,
  hostname: string,
  logging: ReturnType<typeof createLogging>,
): Promise<PollState> {
  const env = agentEnvironment(hub, { hostname, dataDir })
  const config = parseAgentConfig(env, { command: 'run', osHostname: hostname })
  const paths = agentPaths(config)
  await prepareDirectories(paths)
  const common = { clock: systemClock, random: Math.random, version: '0.0.0' }
  const client = createEnrollClient({
    baseUrl: new URL(env.SVC_SERVER_URL),
    trustPem: undefined,
    httpsProxy: undefined,
    noProxy: undefined,
    version: common.version,
  })
  const token = new Secret(await hub.createToken({ hostname }))
  const request = { token, hostname: hostname as Hostname, role: 'web', caFingerprints: undefined }
  const log = logging.forModule('test')
  await enroll({ ...common, paths, client, log }, { ...request, replace: false })
  await client.close()
  const session = await openSession({ config, logging, ...common })
  return openPollState(session, { run: () => Promise.resolve([]) })
}
