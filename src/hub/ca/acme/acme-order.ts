// One order, from its names to the proof that the hub controls them: then it is ready, and nothing is signed yet. RFC 8555, 7.4, 7.5.

import type { Clock } from '../../../platform/clock.ts'
import type { CaReply } from '../ca-connection.ts'
import { CaError, type CaFailureReason } from '../certificate-authority.ts'
import { type AccountKey, keyAuthorization } from './acme-account-key.ts'
import type { Challenge, ChallengeType, RunHook } from './acme-hook.ts'
import {
  failureOfAcme,
  headerOf,
  limitMs,
  objectIn,
  objectsIn,
  retryAfterMs,
} from './acme-reply.ts'
import type { AcmeSession } from './acme-session.ts'

export interface AcmeOrder {
  readonly url: string
  readonly finalizeUrl: string
  /** When the CA forgets it. */
  readonly expires: Date
}

export interface ProveOptions {
  readonly session: AcmeSession
  readonly accountKey: AccountKey
  readonly challengeType: ChallengeType
  readonly runHook: RunHook
  readonly clock: Clock
}

export interface ReadOptions extends Pick<ProveOptions, 'clock'> {
  readonly session: Pick<AcmeSession, 'post'>
}

const POLL_MS = 1000
const POLL_MS_MIN = 250
const POLL_MS_MAX = 30_000
/** The hostname, and the names of a carga. */
const AUTHORIZATIONS_MAX = 101
/** Of an order whose CA does not say when it ends. */
const KEPT_MS = 3_600_000
/** A hook may make a file of this name. */
const TOKEN = /^[\w-]{1,256}$/

/** Something about these names, at the CA or at the hook, for which nobody asks at once again: a CA counts them. */
export class NamesNotProved extends CaError {
  override name = 'NamesNotProved'
  /** So long at least; 0 when the CA has not said it. */
  readonly pauseMs: number
  constructor(
    reason: CaFailureReason,
    message: string,
    options: ConstructorParameters<typeof CaError>[2] = {},
    pauseMs = 0,
  ) {
    super(reason, message, options)
    this.pauseMs = pauseMs
  }
}

/** Throws CaError; however it ends, what the hook has shown is taken away again. `onOrdered` hears that the CA has taken the order. */
export async function proveNames(
  names: readonly string[],
  options: ProveOptions,
  signal: AbortSignal,
  onOrdered: () => void,
): Promise<AcmeOrder> {
  const { session, clock } = options
  const identifiers = names.map((value) => ({ type: 'dns', value }))
  const url = await session.newOrderUrl(signal)
  const reply = await session.post({ url, payload: { identifiers }, signal, names })
  try {
    if (reply.status !== 201) throw failureOfNames(reply, 'take an order', clock)
    onOrdered()
    return await proveOrder(names, reply, options, signal)
  } catch (error) {
    if (error instanceof NamesNotProved) throw error
    if (isTimeout(signal)) {
      const message = 'the names were not proved in time'
      throw new NamesNotProved('unreachable', message, { cause: error })
    }
    const isNo = error instanceof CaError && error.reason === 'refused'
    const isHook = error instanceof CaError && error.variable === 'SVC_ACME_HOOK'
    if (!isNo && !isHook) throw error
    const { reason, message, status, variable } = error
    throw new NamesNotProved(reason, message, { status, variable, cause: error })
  }
}

/** The CA has hung, and not the hub stopped. */
function isTimeout({ aborted, reason }: AbortSignal): boolean {
  return aborted && reason instanceof DOMException && reason.name === 'TimeoutError'
}

/** For an answer about an order: a limit is one of its names, until it shows that others meet it too. */
export function failureOfNames(reply: CaReply, task: string, clock: Clock): CaError {
  const failure = failureOfAcme(reply, task)
  const pauseMs = limitMs(reply, clock.now())
  if (pauseMs === undefined) return failure
  const { reason, message, status } = failure
  return new NamesNotProved(reason, message, { status }, pauseMs)
}

async function proveOrder(
  names: readonly string[],
  reply: CaReply,
  options: ProveOptions,
  signal: AbortSignal,
): Promise<AcmeOrder> {
  const { authorizations, finalize, expires } = objectIn(reply.body)
  const url = headerOf(reply, 'location')
  if (url === undefined || typeof finalize !== 'string' || !isListOfUrls(authorizations)) {
    throw new NamesNotProved('unreachable', 'the order of the ACME CA cannot be read')
  }
  await proveAll(authorizations, new Set(names.map(withoutWildcard)), options, signal)
  const order = await readUntil(url, (status) => status !== 'pending', options, signal)
  requireStatus(order, 'ready', 'the order')
  const ends = typeof expires === 'string' ? Date.parse(expires) : NaN
  const endsMs = Number.isNaN(ends) ? options.clock.now().getTime() + KEPT_MS : ends
  return { url, finalizeUrl: finalize, expires: new Date(endsMs) }
}

/** All are shown before the CA looks, and are looked at together: the DNS takes its time once. */
async function proveAll(
  urls: readonly string[],
  domains: ReadonlySet<string>,
  options: ProveOptions,
  signal: AbortSignal,
): Promise<void> {
  const { session, runHook } = options
  const shown: Challenge[] = []
  try {
    const waiting: { readonly url: string; readonly challengeUrl: string }[] = []
    for (const url of urls) {
      const found = await read(url, session, signal)
      if (found['status'] === 'valid') continue
      requireStatus(found, 'pending', `the authorization of ${nameIn(found)}`)
      const { challenge, challengeUrl } = chooseChallenge(found, options)
      // The hub shows what it was told by its operators, and not by the CA.
      if (!domains.has(challenge.domain)) {
        throw new CaError(
          'refused',
          `the ACME CA asks about ${challenge.domain}, which was not ordered`,
        )
      }
      shown.push(challenge)
      await runHook('present', challenge, signal)
      waiting.push({ url, challengeUrl })
    }
    for (const { challengeUrl } of waiting) {
      const reply = await session.post({ url: challengeUrl, payload: {}, signal })
      if (reply.status !== 200) throw failureOfAcme(reply, 'look at a challenge')
    }
    for (const { url } of waiting) {
      const proved = await readUntil(url, (status) => status !== 'pending', options, signal)
      requireStatus(proved, 'valid', `the authorization of ${nameIn(proved)}`)
    }
  } finally {
    for (const challenge of shown) {
      // What is left behind harms nobody, and is no reason to fail.
      await runHook('cleanup', challenge, new AbortController().signal).catch(() => undefined)
    }
  }
}

function chooseChallenge(
  authorization: Readonly<Record<string, unknown>>,
  { challengeType: type, accountKey }: ProveOptions,
): { readonly challenge: Challenge; readonly challengeUrl: string } {
  const domain = nameIn(authorization)
  const found = objectsIn(authorization['challenges']).find((each) => each['type'] === type)
  const { token, url } = found ?? {}
  if (typeof token !== 'string' || !TOKEN.test(token) || typeof url !== 'string') {
    throw new CaError('refused', `the ACME CA offers no ${type} for ${domain}`)
  }
  const challenge = { type, domain, token, keyAuthorization: keyAuthorization(token, accountKey) }
  return { challenge, challengeUrl: url }
}

/** Asks no oftener than the CA wants, until it is so. */
export async function readUntil(
  url: string,
  isDone: (status: unknown) => boolean,
  { session, clock }: ReadOptions,
  signal: AbortSignal,
): Promise<Readonly<Record<string, unknown>>> {
  for (;;) {
    const reply = await readReply(url, session, signal)
    const found = objectIn(reply.body)
    if (isDone(found['status'])) return found
    const wantedMs = retryAfterMs(reply, clock.now()) ?? POLL_MS
    await clock.sleep(Math.min(POLL_MS_MAX, Math.max(POLL_MS_MIN, wantedMs)), signal)
  }
}

async function read(
  url: string,
  session: ReadOptions['session'],
  signal: AbortSignal,
): Promise<Readonly<Record<string, unknown>>> {
  return objectIn((await readReply(url, session, signal)).body)
}

async function readReply(
  url: string,
  session: ReadOptions['session'],
  signal: AbortSignal,
): Promise<CaReply> {
  const reply = await session.post({ url, payload: null, signal })
  if (reply.status !== 200) throw failureOfAcme(reply, 'show an order')
  return reply
}

/** The name that it is about, as far as it can be printed and given to a hook. */
function nameIn({ identifier }: Readonly<Record<string, unknown>>): string {
  const { value } = (identifier ?? {}) as { value?: unknown }
  if (typeof value === 'string' && /^[a-z0-9.-]{1,253}$/.test(value)) return value
  throw new CaError('unreachable', 'an authorization of the ACME CA is for no name')
}

export function requireStatus(
  found: Readonly<Record<string, unknown>>,
  wanted: string,
  what: string,
): void {
  const { status } = found
  if (status === wanted) return
  // As a reply would say it, so that it is read, bounded and printed as one.
  const problem = problemIn(found)
  throw failureOfAcme(
    { status: 403, body: JSON.stringify({ detail: problem }) },
    `make ${what} ${wanted}`,
  )
}

/** Of an order or an authorization that failed: what the CA says about it. */
function problemIn({ status, error, challenges }: Readonly<Record<string, unknown>>): string {
  const errors = objectsIn(challenges).map((each) => each['error'])
  const found = error ?? errors.find((each) => each !== undefined)
  const { detail } = (found ?? {}) as { detail?: unknown }
  if (typeof detail === 'string') return detail
  return typeof status === 'string' ? `it is ${status}` : 'it has no status'
}

function withoutWildcard(name: string): string {
  return name.startsWith('*.') ? name.slice(2) : name
}

function isListOfUrls(value: unknown): value is string[] {
  return (
    Array.isArray(value) &&
    value.length <= AUTHORIZATIONS_MAX &&
    value.every((each) => typeof each === 'string')
  )
}
