// What a hub is to the tests, wherever it runs: in the test's own process (test-hub.ts), or as operators run it
// (hub-process.ts).

import { mkdtemp, rm } from 'node:fs/promises'
import { request as httpRequest } from 'node:http'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { Ended, Variables } from './processes.ts'
import { prepareStore } from './test-store.ts'

export interface TestHub extends HubPlace, AsyncDisposable {
  readonly ports: HubPorts
  /** All log lines of the hub that runs, or ran last. */
  logText(): string
  logEntries(): LogEntry[]
  /** Starts it, with these variables besides its own, and waits until it listens. */
  start(extra?: Variables): Promise<void>
  /** Ends it as SIGTERM does and says how it ended. */
  stop(): Promise<Ended>
  svc(...args: string[]): Promise<Ended>
}

/** Where a hub is, whether or not it runs. */
export interface HubPlace {
  readonly vaultRoot: string
  /** A place for a test's own files, removed with the hub. */
  readonly directory: string
  /** What the hub is started with. */
  readonly environment: Variables
  /** One call on the admin socket; an answer that refuses is an error. */
  admin<T>(method: string, path: string, body?: object): Promise<T>
  createToken(request: TokenRequest): Promise<string>
}

export interface HubPorts {
  readonly health: number
  readonly enroll: number
  readonly mtls: number
  /** 0 when it is off. */
  readonly admin?: number
  /** 0 when it is off. */
  readonly enrollTls?: number
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
}

export const HUB_NAME = 'hub.test'
/** For a hub that shall have its admin port; hubs of before there was one have none. */
export const WITH_ADMIN_PORT: Variables = { SVC_ADMIN_BIND: '127.0.0.1:0' }
/** For a hub that shall enrol over TLS. */
export const WITH_ENROLL_TLS: Variables = { SVC_ENROLL_TLS_BIND: '127.0.0.1:0' }
export const PASSPHRASE = 'correct horse battery staple'

/** A place whose vault is not made yet; the store is what its vault is to have, and part of its environment. */
export async function createHubPlace(
  options: TestHubOptions,
): Promise<HubPlace & { readonly store: Variables; readonly remove: () => Promise<void> }> {
  const store = 'SVC_DATABASE_URL' in (options.environment ?? {}) ? {} : await prepareStore()
  const directory = await mkdtemp(join(tmpdir(), 'hub-'))
  const vaultRoot = join(directory, 'vault')
  const admin = <T>(method: string, path: string, body: object = {}): Promise<T> =>
    callAdmin(join(vaultRoot, 'admin.sock'), method, path, body)
  return {
    vaultRoot,
    directory,
    environment: { ...store, ...hubEnvironment(vaultRoot, options) },
    store,
    admin,
    createToken: async ({ role = 'web', ...request }) =>
      (await admin<{ token: string }>('POST', '/v1/admin/tokens', { role, ...request })).token,
    remove: () => rm(directory, { recursive: true, force: true }),
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
    SVC_ENROLL_TLS_BIND: 'off',
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

/** Where the hub of a log listens; undefined while it has not said so of every port that it was asked for. */
export function findPorts(
  log: string,
  { SVC_ADMIN_BIND: adminBind, SVC_ENROLL_TLS_BIND: enrollTlsBind }: Variables,
): HubPorts | undefined {
  const whole = log.slice(0, log.lastIndexOf('\n') + 1)
  const entries = whole.split('\n').filter((line) => line.startsWith('{'))
  const portOf = (message: string): number | undefined => {
    const line = entries.findLast((entry) => entry.includes(`"msg":"${message}"`))
    return line === undefined ? undefined : (JSON.parse(line) as { port: number }).port
  }
  const [health, enroll, mtls] = ['health', 'enroll', 'mtls'].map((name) =>
    portOf(`${name} listening`),
  )
  const isOff = (bind: string | undefined): boolean => bind === 'off' || bind === ''
  const admin = adminBind === 'off' ? 0 : portOf('admin listening')
  const enrollTls = isOff(enrollTlsBind) ? 0 : portOf('enroll TLS listening')
  if (health === undefined || enroll === undefined || enrollTls === undefined) return undefined
  if (mtls === undefined || admin === undefined) return undefined
  return { health, enroll, mtls, admin, enrollTls }
}

export function callAdmin<T>(
  socketPath: string,
  method: string,
  path: string,
  body: object,
): Promise<T> {
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
