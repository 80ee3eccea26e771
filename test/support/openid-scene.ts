// The admin port of a hub that has an OpenID provider, and what a page of the console and `svc` ask it.

import { createHash, randomBytes } from 'node:crypto'
import type { Agent } from 'node:https'
import { openProvider } from '../../src/hub/open-openid.ts'
import { parseProviderSettings, readProviderConfig } from '../../src/hub/openid-settings.ts'
import { createAddressLookup } from '../../src/hub/outbound/address-lookup.ts'
import { createOpenidSignIn } from '../../src/hub/service/admin/openid/openid-sign-in.ts'
import { HUB_VARIABLES } from '../../src/hub/hub-variables.ts'
import { Secret } from '../../src/platform/secret.ts'
import type { HubLimits } from '../../src/protocol/hub-limits.ts'
import { NOW } from '../store/store-samples.ts'
import { openDoors, SAME_ORIGIN, UNLIMITED } from './console-page.ts'
import type { Variables } from './processes.ts'
import { createSettableClock } from './settable-clock.ts'
import { openTemporaryStore } from './temporary-store.ts'
import { openAdmin } from './told-admin.ts'
import { send, type Target, type WireReply } from './wire-client.ts'

export const CONSOLE_URL = 'https://hub.test:8445/console'
export const CONSOLE_REDIRECT = `${CONSOLE_URL}/sign-in`
export const SVC_PORT = 41_234
export const SVC_REDIRECT = `http://127.0.0.1:${SVC_PORT}/callback`

export interface SceneOptions {
  readonly variables: Variables
  readonly limits?: Partial<HubLimits>
  readonly dataKey?: Buffer
  readonly consoleUrl?: string | undefined
  readonly isAskedAgainForSvc?: boolean
}

/** The variables are those of the provider; `caPath` names a file. */
export async function openOpenidHub(options: SceneOptions) {
  const stack = new AsyncDisposableStack()
  const store = stack.use(await openTemporaryStore())
  const clock = createSettableClock(NOW)
  const { variables, limits = UNLIMITED, dataKey = randomBytes(32) } = options
  const consoleUrl = 'consoleUrl' in options ? options.consoleUrl : CONSOLE_URL
  const config = readProviderConfig(variables, parseProviderSettings(variables, valueIn(variables)))
  const openid =
    config &&
    createOpenidSignIn({
      settings: config,
      provider: await openProvider(config, clock, createAddressLookup()),
      store,
      clock,
      dataKey: new Secret(dataKey),
      consoleUrl,
      isAskedAgainForSvc: options.isAskedAgainForSvc ?? false,
    })
  const { admin } = openAdmin(store, { clock, findConsoleUrl: () => 'https://hub.test:8445' })
  const { target } = stack.use(
    await openDoors(store, clock, { limits, isConsoleServed: true, openid }),
  )
  return { store, clock, admin, target, [Symbol.asyncDispose]: () => stack.disposeAsync() }
}

export type OpenidHub = Awaited<ReturnType<typeof openOpenidHub>>

function valueIn(variables: Variables): (name: string) => string {
  return (name) => {
    const known = HUB_VARIABLES.find((variable) => variable.name === name)
    return variables[name] ?? known?.default ?? ''
  }
}

export interface Caller {
  readonly secret: string
  readonly key: string
}

export function newCaller(): Caller {
  const secret = randomBytes(32).toString('base64url')
  return { secret, key: createHash('sha256').update(secret).digest('base64url') }
}

type Headers = Readonly<Record<string, string>>

export function askOpenid(
  target: Target,
  path: 'start' | 'finish',
  body: object,
  headers: Headers = SAME_ORIGIN,
  agent?: Agent,
): Promise<WireReply> {
  return send(target, {
    ...(agent && { agent }),
    method: 'POST',
    path: `/v1/admin/oidc/${path}`,
    headers: { 'content-type': 'application/json', ...headers },
    body: JSON.stringify(body),
  })
}

/** What begins a sign-in, of a page of the console or of `svc`. */
export function startOf(wanted: 'console' | 'svc', { key }: Caller): object {
  return wanted === 'console' ? { for: wanted, key } : { for: wanted, port: SVC_PORT, key }
}

export function headersFor(wanted: 'console' | 'svc'): Headers {
  return wanted === 'console' ? SAME_ORIGIN : {}
}

/** What the provider sent the browser back with. */
export function answerIn({ searchParams }: URL): object {
  return Object.fromEntries([...searchParams].filter(([name]) => name !== 'session_state'))
}
