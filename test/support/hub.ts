// A hub as operators run it: svc init, then svc-server in a process of its own, on ports that the system chooses.

import { mkdtemp, rm } from 'node:fs/promises'
import { request as httpRequest } from 'node:http'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { startDevCa } from './dev-ca.ts'
import {
  type Ended,
  type RunningProgram,
  runProgram,
  startProgram,
  waitUntil,
} from './processes.ts'
import type { Variables } from './processes.ts'
import type { RunningCa } from './running-ca.ts'
import { startStepCa } from './step-ca.ts'

export interface TestHub extends AsyncDisposable {
  readonly vaultRoot: string
  /** A place for a test's own files, removed with the hub. */
  readonly directory: string
  /** What the hub is started with. */
  readonly environment: Variables
  readonly ports: HubPorts
  /** The process that runs, or ran last. */
  readonly pid: number
  /** All log lines of the process that runs, or ran last. */
  logText(): string
  logEntries(): LogEntry[]
  /**
   * Starts it, with these variables besides its own, and waits until it listens; as another version when its bin/ is
   * given.
   */
  start(extra?: Variables, programs?: string): Promise<void>
  /** Ends it by a signal and says how it ended. */
  stop(signal?: NodeJS.Signals): Promise<Ended>
  /** One call on the admin socket; an answer that refuses is an error. */
  admin<T>(method: string, path: string, body?: object): Promise<T>
  createToken(request: TokenRequest): Promise<string>
  svc(...args: string[]): Promise<Ended>
}

export interface HubPorts {
  readonly health: number
  readonly enroll: number
  readonly mtls: number
  /** 0 when it is off. */
  readonly admin?: number
}

export type LogEntry = Readonly<Record<string, unknown>>

export interface TokenRequest {
  readonly hostname: string
  readonly role?: string
  readonly ttl_seconds?: number
  readonly reenroll?: boolean
}

export interface TestHubOptions {
  /** The SVC_CA_* variables of the CA to use. */
  readonly caEnvironment: Variables
  readonly environment?: Variables
  /** The bin/ of another version, to run its programs. */
  readonly programs?: string
}

export const HUB_NAME = 'hub.test'
/** For a hub that shall have its admin port; hubs of before there was one have none. */
export const WITH_ADMIN_PORT: Variables = { SVC_ADMIN_BIND: '127.0.0.1:0' }
export const PASSPHRASE = 'correct horse battery staple'

/** The CA that the conformance suite runs against: svc-ca, or the real thing with TEST_CA=step-ca. */
export function startTestCa(): Promise<RunningCa> {
  return process.env['TEST_CA'] === 'step-ca' ? startStepCa() : startDevCa()
}

/** A new vault and its hub, listening. */
export async function startTestHub(options: TestHubOptions): Promise<TestHub> {
  const hub = await createTestHub(options)
  try {
    await hub.start()
    return hub
  } catch (error) {
    await hub[Symbol.asyncDispose]()
    throw error
  }
}

/** A new vault, and a hub that is not started yet. */
export async function createTestHub(options: TestHubOptions): Promise<TestHub> {
  const directory = await mkdtemp(join(tmpdir(), 'hub-'))
  const vaultRoot = join(directory, 'vault')
  const environment = hubEnvironment(vaultRoot, options)
  const { programs: ownPrograms = '' } = options
  const svc = join(ownPrograms, 'svc')
  const made = await runProgram(svc, ['init'], environment)
  if (made.status !== 0) throw new Error(`svc init failed: ${made.stderr}`)

  let running: RunningProgram | undefined
  let ports: HubPorts | undefined
  const logText = (): string => running?.stderr() ?? ''
  const admin = <T>(method: string, path: string, body: object = {}): Promise<T> =>
    callAdmin(join(vaultRoot, 'admin.sock'), method, path, body)
  const stop = async (signal: NodeJS.Signals = 'SIGTERM'): Promise<Ended> => {
    if (running === undefined) throw new Error('the hub was never started')
    running.kill(signal)
    return running.ended
  }
  return {
    vaultRoot,
    directory,
    environment,
    get ports() {
      if (ports === undefined) throw new Error('the hub was never started')
      return ports
    },
    get pid() {
      return running?.pid ?? 0
    },
    logText,
    logEntries: () => parseLog(logText()),
    start: async (extra = {}, programs = ownPrograms) => {
      const started = startProgram(join(programs, 'svc-server'), [], { ...environment, ...extra })
      running = started
      const { SVC_ADMIN_BIND: adminBind } = { ...environment, ...extra }
      ports = await waitForPorts(started, adminBind !== 'off')
    },
    stop,
    admin,
    createToken: async ({ role = 'web', ...request }) =>
      (await admin<{ token: string }>('POST', '/v1/admin/tokens', { role, ...request })).token,
    svc: (...args) => runProgram(svc, args, environment),
    [Symbol.asyncDispose]: async () => {
      if (running !== undefined && !running.hasEnded()) await stop('SIGKILL')
      await rm(directory, { recursive: true, force: true })
    },
  }
}

export function hubEnvironment(vaultRoot: string, options: TestHubOptions): Variables {
  return {
    ...options.caEnvironment,
    SVC_VAULT_ROOT: vaultRoot,
    SVC_MASTER_PASSPHRASE: PASSPHRASE,
    SVC_SERVER_CN: HUB_NAME,
    SVC_HEALTH_BIND: '127.0.0.1:0',
    SVC_ENROLL_BIND: '127.0.0.1:0',
    SVC_MTLS_BIND: '127.0.0.1:0',
    // The defaults are one address each, which many hubs at once cannot have.
    SVC_METRICS_BIND: 'off',
    SVC_ADMIN_BIND: 'off',
    ...options.environment,
  }
}

/** The JSON lines of a log; a line that is none is an error, since it would hide from every tool. */
export function parseLog(text: string): LogEntry[] {
  return text
    .split('\n')
    .filter((line) => line !== '')
    .map((line) => JSON.parse(line) as LogEntry)
}

async function waitForPorts(running: RunningProgram, hasAdmin: boolean): Promise<HubPorts> {
  return waitUntil('the hub to listen', () => {
    if (running.hasEnded()) throw new Error(`the hub ended: ${running.stderr()}`)
    const whole = running.stderr().slice(0, running.stderr().lastIndexOf('\n') + 1)
    const entries = whole.split('\n').filter((line) => line.startsWith('{'))
    const portOf = (message: string): number | undefined => {
      const line = entries.findLast((entry) => entry.includes(`"msg":"${message}"`))
      return line === undefined ? undefined : (JSON.parse(line) as { port: number }).port
    }
    const [health, enroll, mtls] = ['health', 'enroll', 'mtls'].map((name) =>
      portOf(`${name} listening`),
    )
    const admin = hasAdmin ? portOf('admin listening') : 0
    if (health === undefined || enroll === undefined) return undefined
    return mtls === undefined || admin === undefined ? undefined : { health, enroll, mtls, admin }
  })
}

function callAdmin<T>(socketPath: string, method: string, path: string, body: object): Promise<T> {
  return new Promise((resolve, reject) => {
    const headers = { 'content-type': 'application/json' }
    const request = httpRequest({ socketPath, method, path, agent: false, headers }, (response) => {
      const chunks: Buffer[] = []
      response.on('data', (chunk: Buffer) => chunks.push(chunk))
      response.on('end', () => {
        const text = Buffer.concat(chunks).toString('utf8')
        if ((response.statusCode ?? 0) < 300) resolve(JSON.parse(text) as T)
        else reject(new Error(text))
      })
    })
    request.on('error', reject)
    request.end(method === 'GET' ? undefined : JSON.stringify(body))
  })
}
