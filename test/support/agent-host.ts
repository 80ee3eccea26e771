// A host for the agent in a temporary directory: an enrolled identity, a clock to turn, and the real bin/svc-agent.

import { type ChildProcess, spawn } from 'node:child_process'
import { randomUUID } from 'node:crypto'
import { chmodSync } from 'node:fs'
import { mkdtemp, readFile, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { parseAgentConfig } from '../../src/agent/settings/config.ts'
import type { HookInvocation, HookRunner } from '../../src/agent/delivery/hook-runner.ts'
import { storeIdentity } from '../../src/agent/identity/identity.ts'
import { agentPaths, type AgentPaths, prepareDirectories } from '../../src/agent/settings/paths.ts'
import { openPollState, type PollState } from '../../src/agent/round/poll.ts'
import { openSession } from '../../src/agent/identity/session.ts'
import type { HookFailureReport } from '../../src/agent/hub/wire.ts'
import { createCsrPem } from '../../src/pki/csr.ts'
import { generateEcP256Key } from '../../src/pki/keys.ts'
import type { Clock } from '../../src/platform/clock.ts'
import { createLogging } from '../../src/platform/logger.ts'
import type { ManifestEntryBody } from '../../src/protocol/schemas.ts'
import type { FakeHub } from '../fakes/hub-server.ts'
import { type Ended, pathOfProgram, runProgram, waitUntil } from './processes.ts'

/** Real time, plus whatever a test adds. */
export class TurnableClock implements Clock {
  offsetMs = 0
  now(): Date {
    return new Date(Date.now() + this.offsetMs)
  }
  sleep(durationMs: number): Promise<void> {
    this.offsetMs += durationMs
    return Promise.resolve()
  }
}

export class FakeHookRunner implements HookRunner {
  readonly invocations: HookInvocation[] = []
  failures: HookFailureReport[] = []
  run(invocation: HookInvocation): Promise<HookFailureReport[]> {
    this.invocations.push(invocation)
    return Promise.resolve(this.failures)
  }
}

export class AgentHost implements AsyncDisposable {
  readonly directory: string
  readonly dataDir: string
  readonly hub: FakeHub
  readonly clock = new TurnableClock()
  readonly hooks = new FakeHookRunner()
  readonly log: string[] = []
  readonly #open: PollState[] = []

  constructor(directory: string, hub: FakeHub) {
    this.directory = directory
    this.dataDir = join(directory, 'data')
    this.hub = hub
  }

  static async create(hub: FakeHub): Promise<AgentHost> {
    const directory = await mkdtemp(join(tmpdir(), 'svc-agent-'))
    // A command started by root becomes the owner of the data directory, who has to reach it.
    chmodSync(directory, 0o755)
    return new AgentHost(directory, hub)
  }

  get env(): Record<string, string> {
    return {
      PATH: process.env['PATH'] ?? '',
      SVC_SERVER_URL: this.hub.enrollUrl,
      SVC_SERVER_MTLS_URL: this.hub.mtlsUrl,
      SVC_AGENT_DATA_DIR: this.dataDir,
      SVC_AGENT_HOSTNAME: 'web-1',
      SVC_AGENT_ROLE: 'web',
      SVC_ENROLL_TOKEN: 'svct_token',
    }
  }

  get paths(): AgentPaths {
    return agentPaths(this.config())
  }

  config() {
    return parseAgentConfig(this.env, { command: 'run', osHostname: 'web-1' })
  }

  /** An identity as `enroll` leaves it. */
  async enroll(lifetimeMs = 86_400_000): Promise<void> {
    await prepareDirectories(this.paths)
    const key = await generateEcP256Key()
    const now = Date.now()
    await storeIdentity(this.paths.identityDir, {
      keyPem: key.pem,
      certificatePem: await this.hub.ca.sign(await createCsrPem('web-1', key), {
        commonName: 'web-1',
        notBefore: new Date(now - 60_000),
        notAfter: new Date(now + lifetimeMs),
      }),
      caPem: this.hub.ca.rootPem,
      agentId: randomUUID(),
      renewal: null,
    })
  }

  /** The agent as `run` opens it; opening it again is a restart. */
  async openAgent(hooks: HookRunner = this.hooks): Promise<PollState> {
    const logging = createLogging({
      filter: { levelOf: () => 'trace' },
      format: 'json',
      destination: { write: (line: string) => void this.log.push(line) },
    })
    const session = await openSession({
      config: this.config(),
      clock: this.clock,
      random: () => 0.5,
      logging,
      version: '0.0.0',
    })
    const state = await openPollState(session, hooks)
    this.#open.push(state)
    return state
  }

  spawn(...args: string[]): ChildProcess {
    return spawn(pathOfProgram('svc-agent'), args, {
      env: this.env,
      stdio: ['ignore', 'pipe', 'pipe'],
    })
  }

  command(...args: string[]): Promise<Ended> {
    return runProgram('svc-agent', args, this.env)
  }

  readOut(name: string): Promise<string> {
    return readFile(join(this.paths.outDir, name), 'utf8')
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await Promise.all(this.#open.map(({ session }) => session.hub.close()))
    await rm(this.directory, { recursive: true, force: true })
  }
}

export function manifestEntry(fields: Partial<ManifestEntryBody> = {}): ManifestEntryBody {
  return {
    id: randomUUID(),
    carga_id: randomUUID(),
    tipo: 'csr_cert',
    nome: 'site',
    versao: 1,
    status: 'pendente',
    ...fields,
  }
}

/** Polls a condition until it holds: neither undefined nor false. */
export async function eventually<Value>(
  what: string,
  condition: () => Promise<Value | undefined | false> | Value | undefined | false,
): Promise<Value> {
  return waitUntil(what, async () => {
    const value = await condition()
    return value === false ? undefined : value
  })
}
