// A page of the hub's console in a browser: the browser has one half of the session, the page the other. The admin port that it
// asks is the real one, over TLS, on a store with a clock that tests set.

import assert from 'node:assert/strict'
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { ChangeBell } from '../../src/hub/http/change-bell.ts'
import { openAdminDoors } from '../../src/hub/admin-doors.ts'
import type { OpenidSignIn } from '../../src/hub/service/admin/openid/openid-sign-in.ts'
import { createLeakedTokens } from '../../src/hub/service/agent/end-leaked-token.ts'
import type { AdminHub } from '../../src/hub/service/admin/admin-context.ts'
import type { Store } from '../../src/hub/store/store.ts'
import { createLogging } from '../../src/platform/logger.ts'
import type { Clock } from '../../src/platform/clock.ts'
import { DEFAULT_HUB_LIMITS, type HubLimits } from '../../src/protocol/hub-limits.ts'
import { createFakeCa } from '../fakes/hub-certificates.ts'
import { NOW } from '../store/store-samples.ts'
import { NO_BACKUPS } from './no-backups.ts'
import { readActs, type RecordedAct } from './recorded-acts.ts'
import { createSettableClock } from './settable-clock.ts'
import { openTemporaryStore } from './temporary-store.ts'
import { openAdmin } from './told-admin.ts'
import { send, type Target, type WireReply } from './wire-client.ts'

export const SESSIONS = '/v1/admin/sessions'
/** As browsers reach it. */
export const CONSOLE_ORIGIN = 'https://hub.test:8445'
export const OWN_SESSION = '/v1/admin/sessions/own'
const COOKIE = '__Host-cartorio'

/** What a browser adds to a request of a page of this origin. */
export const SAME_ORIGIN = { 'sec-fetch-site': 'same-origin' }

export interface RunningDoors extends AsyncDisposable {
  readonly target: Target
}

export interface DoorsSettings {
  readonly limits?: Partial<HubLimits>
  readonly isConsoleServed?: boolean
  readonly isConsoleSealing?: boolean
  readonly openid?: OpenidSignIn | undefined
  readonly confirmations?: AdminHub['confirmations']
}

export async function openDoors(
  store: Store,
  { now }: Pick<Clock, 'now'>,
  {
    limits,
    openid,
    confirmations,
    isConsoleServed = false,
    isConsoleSealing = false,
  }: DoorsSettings = {},
): Promise<RunningDoors> {
  // What the hub does now and then, it does at its end: a clock that stands still would have it do so without a pause.
  const clock: Clock = { now, sleep: (_durationMs, signal) => untilAborted(signal) }
  const directory = await mkdtemp(join(tmpdir(), 'doors-'))
  const ca = await createFakeCa()
  const own = await ca.issueServer('hub.test')
  const logging = createLogging({ filter: { levelOf: () => 'off' }, format: 'json' })
  const doors = await openAdminDoors({
    config: {
      adminBind: { host: '127.0.0.1', port: 0 },
      isConsoleServed,
      isConsoleSealing,
      limits: { ...DEFAULT_HUB_LIMITS, ...limits },
      isTrustedProxy: () => false,
    },
    socketPath: join(directory, 'admin.sock'),
    clock,
    logging,
    certificate: {
      keyPem: own.keyPem,
      chainPem: own.certificatePem,
      intermediatePems: [ca.intermediatePem],
      rootPem: ca.rootPem,
      serial: '1',
      sha256: '1'.repeat(64),
      notBefore: clock.now(),
      notAfter: clock.now(),
    },
    meters: undefined,
    operations: {
      store,
      clock,
      addresses: { enrollUrl: 'https://hub.test:8444', mtlsUrl: 'https://hub.test:8443' },
      findConsoleUrl: () => CONSOLE_ORIGIN,
      confirmations,
      hubNames: ['hub.test'],
      contentBytesMax: 1024,
      renewalThresholdMs: 0,
    },
    openid,
    bell: new ChangeBell(),
    backups: NO_BACKUPS,
    leakedTokens: createLeakedTokens(store, clock, logging.forModule('test')),
  })
  return {
    target: {
      port: doors.bound?.port ?? 0,
      tls: { ca: ca.rootPem, servername: 'hub.test' },
    },
    [Symbol.asyncDispose]: async () => {
      await doors.close(0)
      await rm(directory, { recursive: true })
    },
  }
}

function untilAborted(signal?: AbortSignal): Promise<void> {
  return new Promise((resolve) => {
    if (signal?.aborted === true) resolve()
    else signal?.addEventListener('abort', () => resolve(), { once: true })
  })
}

export interface Page {
  readonly id: string
  /** As the browser sends it. */
  readonly cookie: string
  readonly secret: string
  /** As the hub set it. */
  readonly setCookie: string
}

type Headers = Readonly<Record<string, string>>

/** With a token or a code. */
export function askToSignIn(
  target: Target,
  credential: string,
  headers: Headers = SAME_ORIGIN,
  body = '{}',
): Promise<WireReply> {
  const known = { authorization: `Bearer ${credential}`, 'content-type': 'application/json' }
  return send(target, { method: 'POST', path: SESSIONS, headers: { ...known, ...headers }, body })
}

export async function signIn(target: Target, credential: string): Promise<Page> {
  const reply = await askToSignIn(target, credential)
  assert.equal(reply.status, 200, reply.text)
  const [setCookie = '', ...others] = reply.headers['set-cookie'] ?? []
  assert.equal(others.length, 0)
  const [cookie = ''] = setCookie.split(';')
  assert.ok(cookie.startsWith(`${COOKIE}=`))
  const { id, secret } = reply.json
  return { id: String(id), cookie, secret: String(secret), setCookie }
}

/** Both halves, as a browser sends what a page of the console asks. */
export function headersOf({ cookie, secret }: Pick<Page, 'cookie' | 'secret'>): Headers {
  return { cookie, 'cartorio-session': secret, ...SAME_ORIGIN }
}

export function askAs(
  target: Target,
  headers: Headers,
  path: string = OWN_SESSION,
  body?: object,
): Promise<WireReply> {
  if (body === undefined) return send(target, { path, headers })
  return send(target, {
    method: 'POST',
    path,
    headers: { ...headers, 'content-type': 'application/json' },
    body: JSON.stringify(body),
  })
}

export const UNLIMITED = { adminFailuresPerMinute: Number.POSITIVE_INFINITY }

/** A hub with one admin token, `ana`. */
export async function openConsole(limits: Partial<HubLimits> = UNLIMITED) {
  const stack = new AsyncDisposableStack()
  const store = stack.use(await openTemporaryStore())
  const clock = createSettableClock(NOW)
  const { admin } = openAdmin(store, { clock, findConsoleUrl: () => CONSOLE_ORIGIN })
  const { target } = stack.use(await openDoors(store, clock, { limits }))
  const { token } = await admin.createAccessToken({ name: 'ana', role: 'operator' })
  return {
    store,
    clock,
    admin,
    target,
    token,
    [Symbol.asyncDispose]: () => stack.disposeAsync(),
  }
}

export function assertRefusal(reply: WireReply, status: number, code: string): void {
  assert.deepEqual([reply.status, reply.json['error']], [status, code], reply.text)
}

/** That the caller is let in, and as whom. */
export async function assertIn(target: Target, page: Page, name = 'ana'): Promise<void> {
  const reply = await askAs(target, headersOf(page))
  assert.deepEqual([reply.status, reply.json['name'], reply.json['id']], [200, name, page.id])
}

export async function actsOf(store: Store, type: string): Promise<RecordedAct[]> {
  return (await readActs(store.reader)).filter(([eventType]) => eventType === type)
}
