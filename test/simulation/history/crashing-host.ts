// A host with the real agent on a simulated disk, killed at any of its steps, and whoever keeps it going: a supervisor
// that starts it again, and a person who enrols it when it has no identity.

import { parseAgentConfig, type AgentConfig } from '../../../src/agent/settings/config.ts'
import type { HookRunner } from '../../../src/agent/delivery/hook-runner.ts'
import { HubUnreachableError } from '../../../src/agent/hub/request.ts'
import { enroll } from '../../../src/agent/identity/enroll.ts'
import { agentPaths, prepareDirectories } from '../../../src/agent/settings/paths.ts'
import { openPollState, pollOnce, type PollState } from '../../../src/agent/round/poll.ts'
import { createRunLoop, type RunLoop } from '../../../src/agent/round/run-loop.ts'
import { openSession, rotateAndReport } from '../../../src/agent/identity/session.ts'
import { recordLastRound } from '../../../src/agent/update/round-outcome.ts'
import { followStream } from '../../../src/agent/commands/follow-stream.ts'
import { queueStart } from '../../../src/agent/hub/queue-start.ts'
import { errnoCode, invariant, SvcError } from '../../../src/platform/errors.ts'
import type { Logging } from '../../../src/platform/logger.ts'
import { Secret } from '../../../src/platform/secret.ts'
import type { Hostname } from '../../../src/protocol/identifiers.ts'
import { createSimulatedConnections } from '../simulated-connections.ts'
import { HUB_NAME } from '../simulated-hub.ts'
import { readIfPresent } from './disk-calls.ts'
import type { Faults } from './faults.ts'
import { createFaultyExchange, type NetworkOptions } from './faulty-network.ts'
import { HeldStreams } from './held-streams.ts'
import type { Kernel, Program } from './kernel.ts'
import { SimulatedDisk } from './simulated-disk.ts'

export interface CrashingHostOptions {
  readonly kernel: Kernel
  readonly faults: Faults
  readonly network: NetworkOptions
  readonly logging: Logging
  readonly hostname: string
  readonly pollInterval: string
  /** Beside its polls. */
  readonly holdsStream: boolean
  /** Resolves with a token that is good, however long that takes. */
  readonly obtainToken: (host: CrashingHost) => Promise<string>
  readonly note: (text: string) => void
  readonly onPowerLost: (host: CrashingHost) => void
  readonly onStrangers: (serial: string) => void
}

export const DATA_DIR = '/var/lib/svc-agent'
const ROLE = 'web'
/** An enrolment has some hundred steps, a round as many, and a run some rounds. */
const STEPS_TO_LIVE_MAX = { enroll: 160, run: 900 } as const
const RESTART_MS_MAX = 30_000
const HOOK_MS_MAX = 5000
/** Of a program that ends by itself: what it says then is no fault of its own. */
const EXPECTED_ENDS: ReadonlySet<string> = new Set([
  'no_identity',
  'identity_present',
  'enroll_refused',
  'hub_refused',
  'enroll_reply_invalid',
])
const DISK_ERRORS: ReadonlySet<string | undefined> = new Set(['ENOSPC', 'EIO'])
/** What an enrolment ends with when only another token helps; a replayed certificate may have expired meanwhile. */
const NEEDS_TOKEN = /token_|agent_already_enrolled|mismatch|is expired/

export class CrashingHost {
  readonly hostname: string
  readonly disk = new SimulatedDisk()
  readonly config: AgentConfig
  clockSkewMs = 0
  /** The identity is to be replaced, for a person has seen that it opens no door any more. */
  wantsNewIdentity = false
  crashes = 0
  rounds = 0
  problems: readonly string[] = ['no round yet']
  /** Serials for which a hook has succeeded. */
  readonly hooked = new Set<string>()
  readonly #options: CrashingHostOptions
  #program: Program | undefined
  #state: PollState | undefined
  #loop: RunLoop | undefined
  #token: string | undefined
  #isEnding = false
  #onEnd: (() => void) | undefined

  constructor(options: CrashingHostOptions) {
    this.#options = options
    this.hostname = options.hostname
    this.config = parseAgentConfig(
      {
        SVC_SERVER_URL: `https://${HUB_NAME}:8444`,
        SVC_SERVER_MTLS_URL: `https://${HUB_NAME}:8443`,
        SVC_AGENT_DATA_DIR: DATA_DIR,
        SVC_AGENT_HOSTNAME: options.hostname,
        SVC_AGENT_ROLE: ROLE,
        SVC_AGENT_POLL_INTERVAL: options.pollInterval,
      },
      { command: 'run', osHostname: options.hostname },
    )
    this.#prepareDisk()
  }

  get eventsWaiting(): number {
    return this.#state?.session.outbox.listWaiting().length ?? 0
  }

  get isRunning(): boolean {
    return this.#program?.isAlive === true && this.#state !== undefined
  }

  /** For ever: the host is up, and somebody looks after it. */
  async live(): Promise<void> {
    const { kernel } = this.#options
    for (;;) {
      if (this.#isEnding) return
      if (this.#hasIdentity && !this.wantsNewIdentity) {
        await this.#runProgram('run', () => this.#run())
      } else await this.#enrol()
      await kernel.sleep(kernel.random() * RESTART_MS_MAX)
    }
  }

  /** A round that begins now, if the agent runs. */
  pollNow(): void {
    this.#loop?.wake()
  }

  /** By hand, while the agent runs. */
  rotate(): void {
    const session = this.#state?.session
    const program = this.#program
    if (session === undefined || program === undefined) return
    program.run(() => rotateAndReport(session)).catch((error: unknown) => this.#judgeEnd(error))
  }

  /** As after the disk was replaced by an empty one. */
  rebuild(): void {
    this.#kill()
    this.disk.wipe()
    this.disk.failure = undefined
    this.#token = undefined
    this.#prepareDisk()
  }

  /** The program is ended from outside, as by its supervisor. */
  restart(): void {
    this.#kill()
  }

  /** From now on its programs live. */
  bless(): void {
    this.#program?.doom(Number.POSITIVE_INFINITY, () => undefined)
  }

  end(): void {
    this.#isEnding = true
    this.#kill()
  }

  async #enrol(): Promise<void> {
    this.#token ??= await this.#options.obtainToken(this)
    const token = this.#token
    const replace = this.wantsNewIdentity
    const end = await this.#runProgram('enroll', () => this.#enrollOnce(token, replace))
    if (end === 'done' || (end instanceof SvcError && end.code === 'identity_present')) {
      this.wantsNewIdentity = false
      this.#token = undefined
    } else if (end instanceof Error && NEEDS_TOKEN.test(end.message)) {
      this.#token = undefined
    }
  }

  /** Resolves when it has ended, by itself or not; what it says then has to be something that it may say. */
  #runProgram(
    command: keyof typeof STEPS_TO_LIVE_MAX,
    main: () => Promise<void>,
  ): Promise<'done' | 'killed' | Error> {
    const { kernel, faults, note } = this.#options
    const program = kernel.createProgram(`${this.hostname} ${command}`, {
      clockSkewMs: () => this.clockSkewMs,
    })
    program.disk = this.disk
    this.#program = program
    this.#state = undefined
    this.#loop = undefined
    if (faults.happens('agent crash')) {
      const steps = 1 + Math.floor(kernel.random() ** 1.5 * STEPS_TO_LIVE_MAX[command])
      program.doom(steps, () => this.#crash())
    }
    return new Promise((resolve) => {
      this.#onEnd = () => resolve('killed')
      const end = (result: 'done' | Error): void => {
        if (!program.isAlive) return
        this.#onEnd = undefined
        program.kill()
        note(`${program.name} ends: ${result instanceof Error ? codeOf(result) : result}`)
        resolve(result)
      }
      program.run(main).then(
        () => end('done'),
        (error: unknown) => {
          if (program.isAlive) this.#judgeEnd(error)
          end(error as Error)
        },
      )
    })
  }

  #crash(): void {
    const { kernel, faults, note, onPowerLost } = this.#options
    const isPowerCut = faults.happens('agent power cut')
    this.crashes += 1
    note(`${this.#program?.name} ${isPowerCut ? 'loses power' : 'is killed'}`)
    this.#program?.kill()
    if (isPowerCut) {
      this.disk.losePower(kernel.random)
      onPowerLost(this)
    }
    this.#tellEnd()
  }

  #kill(): void {
    this.#program?.kill()
    this.#tellEnd()
  }

  #tellEnd(): void {
    const onEnd = this.#onEnd
    this.#onEnd = undefined
    onEnd?.()
  }

  /** A program of ours says why it ends; what it says must not be that it finds its own files damaged. */
  #judgeEnd(error: unknown): void {
    const isExpected =
      error instanceof HubUnreachableError ||
      (error instanceof SvcError && EXPECTED_ENDS.has(error.code)) ||
      DISK_ERRORS.has(errnoCode(error))
    if (isExpected) return
    const reason = error instanceof Error ? (error.stack ?? error.message) : String(error)
    this.#options.kernel.fail(new Error(`${this.hostname} ends with: ${reason}`))
  }

  async #enrollOnce(token: string, replace: boolean): Promise<void> {
    const { kernel, logging } = this.#options
    const program = this.#current()
    const paths = agentPaths(this.config)
    const { serverUrl } = this.config
    invariant(serverUrl !== undefined, 'a simulated host has all settings')
    await prepareDirectories(paths)
    const client = this.#connections(program).createEnrollClient({
      baseUrl: serverUrl,
      trustPem: undefined,
      httpsProxy: undefined,
      noProxy: undefined,
      version: '0.0.0',
    })
    const { clock } = program
    const log = logging.forModule('agent')
    await enroll(
      { paths, client, clock, random: kernel.random, log },
      {
        token: new Secret(token),
        // It was parsed with the settings.
        hostname: this.hostname as Hostname,
        role: ROLE,
        caFingerprints: undefined,
        replace,
      },
    )
  }

  /** As `svc-agent run`, without its lock and its socket. */
  async #run(): Promise<void> {
    const { kernel, logging } = this.#options
    const program = this.#current()
    const { clock } = program
    const session = await openSession({
      config: this.config,
      clock,
      random: kernel.random,
      logging,
      version: '0.0.0',
      connections: this.#connections(program),
    })
    const state = await openPollState(session, this.#hookRunner(program))
    const { outbox, paths } = session
    await queueStart(outbox, this.hostname, new Map([['os', 'linux']])).catch(() => undefined)
    state.deliveries.hooks.driveItself()
    const loop = createRunLoop({
      clock,
      random: kernel.random,
      intervalMs: this.config.pollIntervalMs,
      log: state.log,
      poll: async () => {
        const result = await pollOnce(state, { hooks: 'beside' })
        this.rounds += 1
        this.problems = result.problems
        const { outcome } = result
        await recordLastRound(paths.stateDir, { version: '0.0.0', outcome }, clock.now()).catch(
          () => undefined,
        )
        return result
      },
    })
    this.#state = state
    this.#loop = loop
    if (this.#options.holdsStream) {
      const surroundings = { clock, random: kernel.random, logging }
      kernel.background(() => followStream(surroundings, session, loop).run())
    }
    await loop.run()
  }

  #connections(program: Program) {
    const { network, kernel, onStrangers } = this.#options
    return createSimulatedConnections({
      exchange: createFaultyExchange(network, program),
      time: kernel,
      hostClock: program.clock,
      traffic: { noteAttempt: () => undefined, noteEvent: () => undefined },
      onStrangers,
      openStream: (hub, { agent, ...opened }) => {
        const { connections } = hub
        invariant(connections instanceof HeldStreams, 'a history has streams of its own')
        return connections.open({ ...opened, agentId: agent.id, agent: program })
      },
    })
  }

  #hookRunner({ clock }: Program): HookRunner {
    const { kernel, faults } = this.#options
    return {
      run: async ({ environment: { SVC_SERIAL: serial } }) => {
        await clock.sleep(kernel.random() * HOOK_MS_MAX)
        if (faults.happens('hook fails')) {
          return [{ hook: 'post-csr-cert', reason: 'exit status 1', exitCode: 1, durationMs: 5 }]
        }
        if (serial !== undefined) this.hooked.add(serial)
        return []
      },
    }
  }

  get #hasIdentity(): boolean {
    return readIfPresent(this.disk, `${DATA_DIR}/identity/agent.crt`) !== undefined
  }

  #current(): Program {
    invariant(this.#program !== undefined, 'a program runs')
    return this.#program
  }

  /** What the package has made. */
  #prepareDisk(): void {
    for (const path of ['/var', '/var/lib']) {
      this.disk.makeDirectory(path, 0o755)
      this.disk.syncNames(path)
    }
  }
}

function codeOf(error: Error): string {
  return error instanceof SvcError
    ? `${error.code} ${error.message}`
    : (errnoCode(error) ?? error.name)
}
