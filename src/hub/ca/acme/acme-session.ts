// What every request to an ACME CA needs: its directory, a nonce, the hub's account. docs/protocol.md CAX-26 to CAX-28, CAX-34.

import type { Clock } from '../../../platform/clock.ts'
import type { Logger } from '../../../platform/logger.ts'
import { readVersion } from '../../../platform/version.ts'
import { unlessAborted } from '../../../platform/unless-aborted.ts'
import type { CaConnection, CaReply } from '../ca-connection.ts'
import { CaError } from '../certificate-authority.ts'
import {
  type AccountKey,
  type ExternalAccount,
  signExternalAccount,
  signRequest,
} from './acme-account-key.ts'
import {
  failureOfAcme,
  headerOf,
  limitMs,
  objectIn,
  pauseAfterMs,
  problemOf,
} from './acme-reply.ts'
import { keyOf } from './names-key.ts'

export interface AcmeRequest {
  readonly url: string
  /** Null asks to read (POST-as-GET). */
  readonly payload: object | null
  readonly signal: AbortSignal
  readonly accept?: string
  readonly onSent?: () => void
  /** The nonce was not good, or the account, and so nothing was done: RFC 8555, 6.5. */
  readonly onNotDone?: () => void
  /** Goes out though the CA wants to be left alone: what is not read now is lost. */
  readonly evenPaused?: boolean
  /** Whose order it is about: a limit may be theirs alone. */
  readonly names?: readonly string[]
}

export interface AcmeSession {
  /** An answer, whatever it is. Throws CaError while the CA wants to be left alone, and what the connection throws. */
  post(request: AcmeRequest): Promise<CaReply>
  /** Throws CaError when the CA gives the hub none. */
  requireAccount(signal: AbortSignal): Promise<void>
  /** Where new orders go. */
  newOrderUrl(signal: AbortSignal): Promise<string>
  /** Until when the CA wants to be left alone; undefined when it does not. */
  pausedUntil(): Date | undefined
}

export interface AcmeSessionOptions {
  readonly directoryUrl: URL
  readonly accountKey: AccountKey
  readonly externalAccount?: ExternalAccount | undefined
  readonly connection: CaConnection
  readonly clock: Clock
  readonly logger: Logger
  readonly deadlineMs: number
}

interface Directory {
  readonly newNonce: string
  readonly newAccount: string
  readonly newOrder: string
  readonly isExternalAccountRequired: boolean
}

/** RFC 8555, 6.1. */
const HEADERS = { 'user-agent': `svc-server/${readVersion()}` }
/** Within which two sets of names that meet a limit meet that of the account. */
const SOON_MS = 60_000
/** Of a limit that may be a matter of those names after all. */
const GUESSED_PAUSE_MS_MAX = 600_000
const NONCES_MAX = 32
/** Of one request. A CA that is busy with others may refuse several in a row. */
const TRIES_MAX = 10

export function createAcmeSession(options: AcmeSessionOptions): AcmeSession {
  const { directoryUrl, accountKey, externalAccount, connection, clock, logger } = options
  const nonces: string[] = []
  let pausedUntilMs = 0
  const pausedUntil = (): Date | undefined =>
    clock.now().getTime() < pausedUntilMs ? new Date(pausedUntilMs) : undefined

  /** One that others wait for too goes on when one of them has run out of time; a failure is not remembered. */
  const remember = <Value>(load: (signal: AbortSignal) => Promise<Value>) => {
    let known: Value | undefined
    let underWay: Promise<Value> | undefined
    const loadOnce = async (): Promise<Value> => {
      try {
        return (known = await load(AbortSignal.timeout(options.deadlineMs)))
      } finally {
        underWay = undefined
      }
    }
    return {
      get: async (signal: AbortSignal): Promise<Value> =>
        known ?? unlessAborted((underWay ??= loadOnce()), signal),
      forget: () => (known = undefined),
    }
  }

  /** Within the origin of the directory: a CA sends the hub nowhere else. */
  const pathOf = (url: unknown): string => {
    const parsed = typeof url === 'string' && URL.canParse(url) ? new URL(url) : undefined
    if (parsed?.origin === directoryUrl.origin) return `${parsed.pathname}${parsed.search}`
    throw new CaError('unreachable', 'the ACME CA sends the hub to no URL of its own', {
      variable: 'SVC_ACME_DIRECTORY',
    })
  }

  let limited: { readonly key: string; readonly atMs: number } | undefined
  /** A CA does not say whether a limit is that of the names or of the account: others soon meet that of the account too. */
  const isLimitOfNames = (names: readonly string[]): boolean => {
    const key = keyOf(names)
    const atMs = clock.now().getTime()
    const areOthers = limited !== undefined && limited.key !== key && atMs - limited.atMs < SOON_MS
    limited = { key, atMs }
    return !areOthers
  }
  const pauseOf = (reply: CaReply, names: readonly string[] | undefined): number | undefined => {
    const pauseMs = pauseAfterMs(reply, clock.now())
    if (names === undefined || limitMs(reply, clock.now()) === undefined) return pauseMs
    if (pauseMs === undefined || isLimitOfNames(names)) return undefined
    return Math.min(pauseMs, GUESSED_PAUSE_MS_MAX)
  }

  const note = (reply: CaReply, names?: readonly string[]): CaReply => {
    const nonce = headerOf(reply, 'replay-nonce')
    if (nonce !== undefined && /^[\w-]{1,256}$/.test(nonce) && nonces.length < NONCES_MAX)
      nonces.push(nonce)
    const pauseMs = pauseOf(reply, names)
    if (pauseMs !== undefined) {
      pausedUntilMs = Math.max(pausedUntilMs, clock.now().getTime() + pauseMs)
      const until = new Date(pausedUntilMs).toISOString()
      logger.warn({ ca_status: reply.status, until }, 'The ACME CA asks to be left alone')
    }
    return reply
  }

  const directory = remember(async (signal): Promise<Directory> => {
    const path = pathOf(directoryUrl.href)
    const reply = note(await connection.send({ method: 'GET', path, headers: HEADERS, signal }))
    if (reply.status !== 200) throw failureOfAcme(reply, 'show its directory')
    const { newNonce, newAccount, newOrder, meta } = objectIn(reply.body)
    const wanted = { newNonce, newAccount, newOrder }
    for (const url of Object.values(wanted)) pathOf(url)
    const { externalAccountRequired } = (meta ?? {}) as { externalAccountRequired?: unknown }
    const isExternalAccountRequired = externalAccountRequired === true
    return { ...(wanted as Record<keyof typeof wanted, string>), isExternalAccountRequired }
  })

  const takeNonce = async (signal: AbortSignal): Promise<string> => {
    const kept = nonces.pop()
    if (kept !== undefined) return kept
    const { newNonce } = await directory.get(signal)
    const reply = note(
      await connection.send({ method: 'HEAD', path: pathOf(newNonce), headers: HEADERS, signal }),
    )
    const fresh = nonces.pop()
    if (fresh !== undefined) return fresh
    throw reply.status < 300
      ? new CaError('unreachable', 'the ACME CA gives no nonce', { variable: 'SVC_ACME_DIRECTORY' })
      : failureOfAcme(reply, 'give a nonce')
  }

  const send = async (
    { url, payload, signal, accept, onSent, onNotDone, evenPaused = false, names }: AcmeRequest,
    kid: string | undefined,
  ): Promise<CaReply> => {
    const path = pathOf(url)
    for (let tries = 0; tries < TRIES_MAX; tries += 1) {
      const until = pausedUntil()
      if (until !== undefined && !evenPaused) throw leftAlone(until)
      const nonce = await takeNonce(signal)
      const reply = note(
        await connection.send({
          method: 'POST',
          path,
          body: signRequest(accountKey, { url, nonce, kid, payload }),
          headers: {
            ...HEADERS,
            'content-type': 'application/jose+json',
            ...(accept !== undefined && { accept }),
          },
          // One that is never answered holds up no order for longer than the others.
          signal: AbortSignal.any([signal, AbortSignal.timeout(options.deadlineMs)]),
          onSent,
        }),
        names,
      )
      if (problemOf(reply) !== 'badNonce') return reply
      onNotDone?.()
    }
    throw new CaError('unreachable', `the ACME CA took none of ${TRIES_MAX} nonces that it gave`)
  }

  /** The same key is the same account, however often it is asked for. */
  const account = remember(async (signal): Promise<string> => {
    const { newAccount: url, isExternalAccountRequired } = await directory.get(signal)
    if (isExternalAccountRequired && externalAccount === undefined) {
      throw new CaError('refused', 'the ACME CA takes no account without an external one', {
        variable: 'SVC_ACME_EAB_KID',
      })
    }
    const binding =
      externalAccount === undefined
        ? {}
        : { externalAccountBinding: signExternalAccount(accountKey, externalAccount, url) }
    const payload = { termsOfServiceAgreed: true, ...binding }
    const reply = await send({ url, payload, signal }, undefined)
    const kid = headerOf(reply, 'location')
    if ((reply.status === 200 || reply.status === 201) && kid !== undefined) return kid
    const failure = failureOfAcme(reply, 'make an account')
    const variable = externalAccount === undefined ? 'SVC_ACME_ACCOUNT_KEY' : 'SVC_ACME_EAB_KEY'
    const { reason, message, status } = failure
    throw reason === 'refused'
      ? new CaError(reason, message, { status, variable: failure.variable ?? variable })
      : failure
  })

  return {
    pausedUntil,
    requireAccount: async (signal) => {
      await account.get(signal)
    },
    newOrderUrl: async (signal) => (await directory.get(signal)).newOrder,
    post: async (request) => {
      const reply = await send(request, await account.get(request.signal))
      if (problemOf(reply) !== 'accountDoesNotExist') return reply
      request.onNotDone?.()
      account.forget()
      return send(request, await account.get(request.signal))
    },
  }
}

export function leftAlone(until: Date): CaError {
  return new CaError('overloaded', `the ACME CA asks to be left alone until ${until.toISOString()}`)
}
