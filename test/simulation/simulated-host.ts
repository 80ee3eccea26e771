// One host with the real agent on real files; its clock, its network and its hooks are the simulation's.

import { readFile, rm } from 'node:fs/promises'
import { join } from 'node:path'
import { parseAgentConfig, type AgentConfig } from '../../src/agent/settings/config.ts'
import type { HookInvocation, HookRunner } from '../../src/agent/delivery/hook-runner.ts'
import { enroll } from '../../src/agent/identity/enroll.ts'
import { type Identity, requireIdentity } from '../../src/agent/identity/identity.ts'
import { agentPaths, prepareDirectories } from '../../src/agent/settings/paths.ts'
import { openPollState, pollOnce, type PollState } from '../../src/agent/round/poll.ts'
import { createRunLoop, type RunLoop } from '../../src/agent/round/run-loop.ts'
import type { KnownLog } from '../../src/agent/witness/log-watch.ts'
import { openSession } from '../../src/agent/identity/session.ts'
import type { HookFailureReport } from '../../src/agent/hub/wire.ts'
import { invariant } from '../../src/platform/errors.ts'
import type { Logging } from '../../src/platform/logger.ts'
import { Secret } from '../../src/platform/secret.ts'
import type { Hostname } from '../../src/protocol/identifiers.ts'
import type { EventRequestBody } from '../../src/protocol/schemas.ts'
import { makeQuickDirectory } from './quick-directory.ts'
import type { Random } from './seeded-random.ts'
import {
  createSimulatedConnections,
  createUnreliableExchange,
  type Traffic,
} from './simulated-connections.ts'
import { HUB_NAME, type SimulatedHub } from './simulated-hub.ts'
import { HostClock, type Nap, type VirtualTime } from './virtual-time.ts'

export interface Attempt {
  readonly route: 'issue' | 'recover'
  /** A delivery's id, or `identity`. */
  readonly subject: string
  readonly at: Date
}

export interface SimulatedHostOptions {
  readonly hostname: string
  readonly hub: SimulatedHub
  readonly time: VirtualTime
  readonly random: Random
  readonly logging: Logging
  readonly pollInterval: string
  readonly clockOffsetMs: number
  /** When it is suspended; in order and apart. */
  readonly naps: readonly Nap[]
  /** Whether replies are lost and hooks fail at this moment. */
  readonly hasTrouble: () => boolean
}

const ROLE = 'web'
const LOSS_RATE = 0.01
const HOOK_FAILURE_RATE = 0.1

export class SimulatedHost implements AsyncDisposable {
  readonly hostname: string
  readonly options: SimulatedHostOptions
  readonly config: AgentConfig
  readonly attempts: Attempt[] = []
  readonly sentEvents: EventRequestBody[] = []
  readonly hookRuns: HookInvocation[] = []
  polls = 0
  lostReplies = 0
  readonly #directory: string
  readonly #clock: HostClock
  #loop: RunLoop | undefined
  #state: PollState | undefined

  static async create(options: SimulatedHostOptions): Promise<SimulatedHost> {
    const directory = await makeQuickDirectory(`simulated-${options.hostname}-`)
    return new SimulatedHost(options, directory)
  }

  constructor(options: SimulatedHostOptions, directory: string) {
    this.options = options
    this.hostname = options.hostname
    this.#directory = directory
    this.#clock = new HostClock(options.time, options.clockOffsetMs, options.naps)
    const env = {
      SVC_SERVER_URL: `https://${HUB_NAME}:8444`,
      SVC_SERVER_MTLS_URL: `https://${HUB_NAME}:8443`,
      SVC_AGENT_DATA_DIR: join(directory, 'data'),
      SVC_AGENT_HOSTNAME: options.hostname,
      SVC_AGENT_ROLE: ROLE,
      SVC_AGENT_POLL_INTERVAL: options.pollInterval,
    }
    this.config = parseAgentConfig(env, { command: 'run', osHostname: options.hostname })
  }

  /** As `svc-agent enroll`. */
  async enroll(
    token: string,
    { replace }: { readonly replace: boolean } = { replace: false },
  ): Promise<void> {
    const { random, logging, hostname } = this.options
    const paths = agentPaths(this.config)
    const { serverUrl } = this.config
    invariant(serverUrl !== undefined, 'a simulated host has all settings')
    await prepareDirectories(paths)
    const client = this.#connections().createEnrollClient({
      baseUrl: serverUrl,
      trustPem: undefined,
      httpsProxy: undefined,
      noProxy: undefined,
      version: '0.0.0',
    })
    const context = { paths, client, clock: this.#clock, random, log: logging.forModule('agent') }
    await enroll(context, {
      token: new Secret(token),
      hostname: hostname as Hostname,
      role: ROLE,
      caFingerprints: undefined,
      replace,
    })
  }

  /** As `svc-agent run`, apart from its hooks, for whose end each round waits. Never resolves. */
  async run(): Promise<void> {
    const { random, logging } = this.options
    const session = await openSession({
      config: this.config,
      clock: this.#clock,
      random,
      logging,
      version: '0.0.0',
      connections: this.#connections(),
    })
    const state = await openPollState(session, this.#hookRunner())
    this.#state = state
    this.#loop = createRunLoop({
      clock: this.#clock,
      random,
      intervalMs: this.config.pollIntervalMs,
      log: state.log,
      poll: () => {
        this.polls += 1
        return pollOnce(state)
      },
    })
    await this.#loop.run()
  }

  /** Resolves with the problems of a round that begins now. */
  async pollNow(): Promise<readonly string[]> {
    invariant(this.#loop !== undefined, 'the agent runs')
    return (await this.#loop.pollNow()).problems
  }

  get eventsWaiting(): number {
    return this.#state?.session.outbox.listWaiting().length ?? 0
  }

  get outboxDir(): string {
    return agentPaths(this.config).outboxDir
  }

  /** What it has seen of the hub's log. */
  get knownLog(): KnownLog | undefined {
    return this.#state?.session.logWatch.known
  }

  readIdentity(): Promise<Identity> {
    return requireIdentity(agentPaths(this.config).identityDir)
  }

  readOut(name: string): Promise<string> {
    return readFile(join(this.config.outDir, name), 'utf8')
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await rm(this.#directory, { recursive: true, force: true })
  }

  #connections() {
    const { hub, time, random, hasTrouble } = this.options
    const traffic: Traffic = {
      noteAttempt: (route, subject, at) => void this.attempts.push({ route, subject, at }),
      noteEvent: (event) => void this.sentEvents.push(event),
      noteLostReply: () => {
        this.lostReplies += 1
      },
    }
    const lossRate = (): number => (hasTrouble() ? LOSS_RATE : 0)
    const hostClock = this.#clock
    return createSimulatedConnections({
      exchange: createUnreliableExchange({ hub, time, hostClock, random, traffic, lossRate }),
      time,
      hostClock,
      traffic,
    })
  }

  #hookRunner(): HookRunner {
    const { random, hasTrouble } = this.options
    return {
      run: async (invocation): Promise<HookFailureReport[]> => {
        this.hookRuns.push(invocation)
        const fails = random() < HOOK_FAILURE_RATE && hasTrouble()
        return fails
          ? [{ hook: 'post-csr-cert', reason: 'exit status 1', exitCode: 1, durationMs: 5 }]
          : []
      },
    }
  }
}
