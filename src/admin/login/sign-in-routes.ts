// The routes of a hub that need no credentials: which provider, the start of a sign-in, and its end. docs/protocol.md OID.

import { request as httpsRequest } from 'node:https'
import type { TSchema, Static } from 'typebox'
import { Check } from 'typebox/value'
import { SvcError } from '../../platform/errors.ts'
import {
  OPENID_ROUTES,
  type OpenidFinish,
  OpenidSignIn,
  OpenidStarted,
  OpenidToken,
} from '../../protocol/admin/openid.ts'
import { send } from '../doors/hub-calls.ts'
import { connectionOf, explainConnection, notAHub, readBody } from '../doors/hub-connection.ts'
import type { HubAddress } from '../doors/hub-options.ts'
import { explainSignInRefusal } from './explain-refusal.ts'

export type Provider = Pick<OpenidSignIn, 'name' | 'issuer'>

export interface StartedSignIn {
  /** Where the person signs in. */
  readonly url: string
  /** By which the answer is known. */
  readonly state: string
}

const START_MS_MAX = 30_000
/** The hub asks the provider meanwhile. */
const FINISH_MS_MAX = 60_000
const REPLY_BYTES_MAX = 64 * 1024
const URL_CHARACTERS_MAX = 16 * 1024

/** The provider, and how far this machine's clock is ahead of the hub's. */
export async function askProvider(
  hub: HubAddress,
  now: () => Date,
): Promise<{ readonly provider: Provider; readonly aheadMs: number }> {
  const { body, date } = await ask(hub, OpenidSignIn, {
    ...OPENID_ROUTES.show,
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
  const { body } = await ask(hub, OpenidStarted, {
    ...OPENID_ROUTES.start,
    content: JSON.stringify({ for: 'svc', port, key }),
    timeoutMs: START_MS_MAX,
  })
  const url = URL.canParse(body.url) ? new URL(body.url) : undefined
  const state = url?.searchParams.get('state') ?? ''
  // A browser would also open a file, or run a script; and a person has to be able to copy it.
  if (url?.protocol === 'https:' && state !== '' && url.href.length <= URL_CHARACTERS_MAX) {
    return { url: url.href, state }
  }
  throw new SvcError('reply_invalid', 'the hub names no https address of its provider')
}

export async function finishSignIn(hub: HubAddress, finished: OpenidFinish): Promise<OpenidToken> {
  const { body } = await ask(hub, OpenidToken, {
    ...OPENID_ROUTES.finish,
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
