// One request to the hub. The types of each operation are the hub's own.

import { setClock } from './clock.ts'
import { awaitConfirmation, CONFIRMATION_HEADER } from './confirmation.ts'
import { HubError, type HubErrorBody, HubUnreachable } from './hub-error.ts'
import {
  type ActName,
  type AdminOperationName,
  type AdminRehearsal,
  type AdminReplies,
  type AdminRequest,
  isCreate,
  methodOf,
  pathOf,
  roleNeeded,
} from './operations.ts'
import { endedByHub, isAllowed, isAtLeast, isIn, ownHalf, sessionHeaders } from './session.ts'

export interface AskOptions {
  readonly signal?: AbortSignal | undefined
  /** Of a create that is sent again, the key of the first time. */
  readonly idempotencyKey?: string | undefined
  /** What the act is about, as it was shown: the hub refuses the act when it has changed. */
  readonly ifMatch?: string | undefined
  /** What is about to happen, in words, where a passkey has to confirm it. */
  readonly about?: string | undefined
  /** Of a session that is not entered yet. */
  readonly half?: string
}

export interface Answer<Body> {
  readonly body: Body
  readonly etag: string | undefined
}

const ANSWER_MS_MAX = 30_000

export async function ask<Name extends AdminOperationName>(
  name: Name,
  request: AdminRequest<Name>,
  options: AskOptions = {},
): Promise<AdminReplies[Name]> {
  return (await askFully(name, request, options)).body
}

export async function askFully<Name extends AdminOperationName>(
  name: Name,
  request: AdminRequest<Name>,
  options: AskOptions = {},
): Promise<Answer<AdminReplies[Name]>> {
  const response = await send(name, request as Readonly<Record<string, unknown>>, options)
  const etag = response.headers.get('etag') ?? undefined
  return { body: (await response.json()) as AdminReplies[Name], etag }
}

/** What an act would do, and to how many hosts. The hub stores nothing. docs/protocol.md API-27. */
export async function rehearse<Name extends ActName>(
  name: Name,
  request: AdminRequest<Name>,
  options: AskOptions = {},
): Promise<AdminRehearsal> {
  const response = await send(name, { ...request, dry_run: true }, options)
  return (await response.json()) as AdminRehearsal
}

async function send(
  name: AdminOperationName,
  request: Readonly<Record<string, unknown>>,
  { signal, idempotencyKey = crypto.randomUUID(), ifMatch, about, half }: AskOptions,
): Promise<Response> {
  if (half === undefined) refuseHere(name)
  const used = half ?? ownHalf()
  const method = methodOf(name)
  const { path, rest } = fillPath(pathOf(name), request)
  const url = method === 'GET' ? `${path}${toQuery(rest)}` : path
  const body = method === 'POST' ? JSON.stringify(rest) : ''
  const sendOnce = (confirmation?: string): Promise<Response> =>
    reach(url, {
      method,
      signal,
      headers: {
        ...sessionHeaders(used),
        ...(method === 'POST' && { 'content-type': 'application/json' }),
        ...(isCreate(name) && { 'idempotency-key': idempotencyKey }),
        ...(ifMatch !== undefined && { 'if-match': ifMatch }),
        ...(confirmation !== undefined && { [CONFIRMATION_HEADER]: confirmation }),
      },
      ...(method === 'POST' && { body }),
    })
  let response = await sendOnce()
  if (response.ok) return response
  let error = await readError(response)
  if (error.code === 'confirmation_needed') {
    const asked = { about: about ?? name, method, url, body }
    const confirmation = await awaitConfirmation(asked, signal)
    // As it was: nothing is done, and the form says so.
    if (confirmation === undefined) throw error
    response = await sendOnce(confirmation)
    if (response.ok) return response
    error = await readError(response)
  }
  if (error.status === 401) endedByHub(used)
  throw error
}

/** What the hub would refuse is not asked: its log has each refusal, and somebody is alarmed. */
function refuseHere(name: AdminOperationName): void {
  if (!isIn()) throw refusal(401, 'session_ended', 'nobody is signed in on this page')
  if (isAllowed(name)) return
  const role = roleNeeded(name)
  if (!isAtLeast(role)) throw refusal(403, 'role_insufficient', `this needs the role ${role}`)
  throw refusal(403, 'token_bounded', 'this admin token is for some hosts only')
}

function refusal(status: number, error: string, message: string): HubError {
  return new HubError(status, { error, message }, undefined)
}

interface Reached extends Omit<RequestInit, 'signal'> {
  readonly signal?: AbortSignal | undefined
  /** An answer that goes on: nobody waits for its end. */
  readonly isEndless?: boolean
}

/** Our own origin only, with its cookie, and never from a cache. */
export async function reach(
  path: string,
  { signal, isEndless = false, ...init }: Reached,
): Promise<Response> {
  const limits = [signal, isEndless ? undefined : AbortSignal.timeout(ANSWER_MS_MAX)]
  try {
    const response = await fetch(path, {
      ...init,
      signal: AbortSignal.any(limits.filter((one) => one !== undefined)),
      credentials: 'same-origin',
      cache: 'no-store',
      redirect: 'error',
    })
    setClock(response.headers.get('date'))
    return response
  } catch (error) {
    if (signal?.aborted === true) throw error
    throw new HubUnreachable(error)
  }
}

export async function readError(response: Response): Promise<HubError> {
  const requestId = response.headers.get('x-request-id') ?? undefined
  const body = (await response.json().catch(() => ({}))) as HubErrorBody
  return new HubError(response.status, body, requestId)
}

function fillPath(
  pattern: string,
  request: Readonly<Record<string, unknown>>,
): { readonly path: string; readonly rest: Readonly<Record<string, unknown>> } {
  const rest = { ...request }
  const path = pattern.replaceAll(/:(\w+)/g, (_whole, field: string) => {
    const value = String(rest[field])
    delete rest[field]
    return encodeURIComponent(value)
  })
  return { path, rest }
}

type Scalar = string | number | boolean | undefined

function toQuery(fields: Readonly<Record<string, unknown>>): string {
  const query = new URLSearchParams()
  // What is asked for by GET has no fields of its own in a field.
  for (const [name, value] of Object.entries(fields as Readonly<Record<string, Scalar>>)) {
    if (value !== undefined) query.set(name, String(value))
  }
  return query.size === 0 ? '' : `?${query.toString()}`
}
