// The routes of a hub that need no credentials: which provider, the start of a sign-in, and its end. docs/protocol.md OID.

import { request as httpsRequest } from 'node:https'
import { type TSchema, Type, type Static } from 'typebox'
import { Check } from 'typebox/value'
import { SvcError } from '../../platform/errors.ts'
import { ADMIN_ROLES } from '../../protocol/admin/roles.ts'
import { send } from '../doors/hub-calls.ts'
import { connectionOf, explainConnection, notAHub, readBody } from '../doors/hub-connection.ts'
import type { HubAddress } from '../doors/hub-options.ts'
import { explainSignInRefusal } from './explain-refusal.ts'

const text = Type.String({ minLength: 1, maxLength: 1024 })

const Provider = Type.Object({ name: text, issuer: text })
const Started = Type.Object({ url: Type.String({ maxLength: 16 * 1024 }) })
const SignedIn = Type.Object({
  token: Type.String({ pattern: /^svca_[A-Za-z0-9_-]{43}$/.source }),
  name: text,
  role: Type.Enum([...ADMIN_ROLES]),
  only: Type.Union([Type.String({ maxLength: 16 * 1024 }), Type.Null()]),
  expires_at: Type.String({ pattern: /^\d{4}-\d\d-\d\dT[\d:.]+Z$/.source }),
})

export type Provider = Static<typeof Provider>
export type SignedIn = Static<typeof SignedIn>

export interface StartedSignIn {
  /** Where the person signs in. */
  readonly url: string
  /** By which the answer is known. */
  readonly state: string
}

export interface FinishedSignIn {
  readonly code: string
  readonly state: string
  readonly secret: string
  readonly iss?: string
}

const START_MS_MAX = 30_000
/** The hub asks the provider meanwhile. */
const FINISH_MS_MAX = 60_000
const REPLY_BYTES_MAX = 64 * 1024

/** The provider, and how far this machine's clock is ahead of the hub's. */
export async function askProvider(
  hub: HubAddress,
  now: () => Date,
): Promise<{ readonly provider: Provider; readonly aheadMs: number }> {
  const { body, date } = await ask(hub, Provider, {
    method: 'GET',
    path: '/v1/admin/oidc',
    content: '',
    timeoutMs: START_MS_MAX,
  })
  const hubMs = Date.parse(date)
  const { name, issuer } = body
  return {
    provider: { name, issuer },
    aheadMs: Number.isNaN(hubMs) ? 0 : now().getTime() - hubMs,
  }
}

export async function startSignIn(
  hub: HubAddress,
  { port, key }: { readonly port: number; readonly key: string },
): Promise<StartedSignIn> {
  const { body } = await ask(hub, Started, {
    method: 'POST',
    path: '/v1/admin/oidc/start',
    content: JSON.stringify({ for: 'svc', port, key }),
    timeoutMs: START_MS_MAX,
  })
  const url = URL.canParse(body.url) ? new URL(body.url) : undefined
  const state = url?.searchParams.get('state') ?? ''
  // A browser would also open a file, or run a script.
  if (url?.protocol === 'https:' && state !== '') return { url: url.href, state }
  throw new SvcError('reply_invalid', 'the hub names no https address of its provider')
}

export async function finishSignIn(hub: HubAddress, finished: FinishedSignIn): Promise<SignedIn> {
  const { body } = await ask(hub, SignedIn, {
    method: 'POST',
    path: '/v1/admin/oidc/finish',
    content: JSON.stringify(finished),
    timeoutMs: FINISH_MS_MAX,
  })
  return body
}

async function ask<S extends TSchema>(
  hub: HubAddress,
  schema: S,
  request: { method: string; path: string; content: string; timeoutMs: number },
): Promise<{ readonly body: Static<S>; readonly date: string }> {
  const reply = await send((options) => httpsRequest({ ...options, ...connectionOf(hub) }), {
    ...request,
    replyBytesMax: REPLY_BYTES_MAX,
  }).catch((error: unknown) => {
    throw explainConnection(hub, error)
  })
  const body = readBody(hub, reply)
  if (reply.status >= 300) throw explainSignInRefusal(hub, reply, body)
  const { date = '' } = reply.headers
  if (Check(schema, body)) return { body, date }
  throw notAHub(hub, 'its answer is none to a sign-in')
}
