// How the hub comes by a token of OpenBao: it has one, which it keeps alive, or it logs in by AppRole. docs/protocol.md CAX-19, CAX-20.

import type { Clock } from '../../../platform/clock.ts'
import { describeError } from '../../../platform/errors.ts'
import type { Logger } from '../../../platform/logger.ts'
import { parseJson } from '../../../platform/parse-json.ts'
import { Secret } from '../../../platform/secret.ts'
import { unlessAborted } from '../../../platform/unless-aborted.ts'
import { CaError } from '../certificate-authority.ts'
import { failureOfOpenBao } from './openbao-reply.ts'
import type { OpenBaoCall } from './openbao-connection.ts'

export type OpenBaoLogin =
  | { readonly by: 'token'; readonly token: Secret<string> }
  | {
      readonly by: 'approle'
      /** Where the method is enabled, such as `approle`. */
      readonly mount: string
      readonly roleId: string
      readonly secretId: Secret<string>
    }

export interface OpenBaoToken {
  get(signal: AbortSignal): Promise<Secret<string>>
  /** OpenBao does not accept it any more, so the next call logs in again, if that is possible. */
  forget(token: Secret<string>): void
}

export interface OpenBaoTokenOptions {
  readonly call: OpenBaoCall
  readonly clock: Clock
  readonly logger: Logger
  readonly deadlineMs: number
}

/** A token is used until a tenth of its life is left. */
const USED_PART = 0.9
const RENEWAL_DELAY_MS_MIN = 1000
const RENEWAL_DELAY_MS_MAX = 3_600_000
const RETRY_DELAY_MS = 60_000

/** One that the hub was given: it stays as it is. */
export function givenToken(token: Secret<string>): OpenBaoToken {
  return { get: () => Promise.resolve(token), forget: () => undefined }
}

/** Logs in at most once at a time, however many wait for it. */
export function tokenOfAppRole(
  { mount, roleId, secretId }: Extract<OpenBaoLogin, { readonly by: 'approle' }>,
  { call, clock, deadlineMs }: OpenBaoTokenOptions,
): OpenBaoToken {
  let known: { readonly token: Secret<string>; readonly untilMs: number } | undefined
  let underWay: Promise<Secret<string>> | undefined
  const logIn = async (): Promise<Secret<string>> => {
    try {
      const reply = await call({
        method: 'POST',
        path: `/v1/auth/${mount}/login`,
        fields: { role_id: roleId, secret_id: secretId.reveal() },
        signal: AbortSignal.timeout(deadlineMs),
      })
      if (reply.status !== 200) {
        throw failureOfOpenBao(reply, 'log the hub in', () => 'SVC_OPENBAO_SECRET_ID')
      }
      const { client_token: text, lease_duration: seconds } = readAuth(reply.body)
      if (typeof text !== 'string' || text === '') {
        throw new CaError('unreachable', 'the CA sent no token for the login of the hub')
      }
      const token = new Secret(text)
      // 0 is a token that does not end.
      const lifeMs = typeof seconds === 'number' && seconds > 0 ? seconds * 1000 : Infinity
      known = { token, untilMs: clock.now().getTime() + lifeMs * USED_PART }
      return token
    } finally {
      underWay = undefined
    }
  }
  return {
    get: async (signal) => {
      if (known !== undefined && clock.now().getTime() < known.untilMs) return known.token
      // A login that others wait for too goes on when one of them has run out of time.
      return unlessAborted((underWay ??= logIn()), signal)
    },
    forget: (token) => {
      if (known?.token === token) known = undefined
    },
  }
}

/**
 * Renews the token that the hub was given whenever half of its life is over, until the signal aborts, the token ends or OpenBao
 * says that it cannot be renewed. Never rejects.
 */
export async function keepTokenAlive(
  token: Secret<string>,
  { call, clock, logger, deadlineMs }: OpenBaoTokenOptions,
  signal: AbortSignal,
): Promise<void> {
  let isLookUp = true
  let isKnown = false
  let isFailing = false
  while (!signal.aborted) {
    let delayMs = RETRY_DELAY_MS
    try {
      const reply = await call({
        method: isLookUp ? 'GET' : 'POST',
        path: `/v1/auth/token/${isLookUp ? 'lookup' : 'renew'}-self`,
        ...(!isLookUp && { fields: {} }),
        token,
        signal: AbortSignal.any([signal, AbortSignal.timeout(deadlineMs)]),
      })
      if (reply.status !== 200)
        throw failureOfOpenBao(reply, 'renew the token of the hub', () => 'SVC_OPENBAO_TOKEN')
      const { seconds, isRenewable } = readLife(reply.body, isLookUp)
      if (seconds === 0) return
      if (!isRenewable) {
        const ends = new Date(clock.now().getTime() + seconds * 1000).toISOString()
        const fields = { not_after: ends, variable: 'SVC_OPENBAO_TOKEN' }
        logger.warn(fields, 'The token for the CA ends, and cannot be renewed')
        return
      }
      isLookUp = false
      isKnown = true
      isFailing = false
      delayMs = Math.min(RENEWAL_DELAY_MS_MAX, Math.max(RENEWAL_DELAY_MS_MIN, seconds * 500))
    } catch (error) {
      if (signal.aborted) return
      if (!isFailing) {
        const fields = { reason: describeError(error), retry_in_ms: delayMs }
        logger.warn(fields, 'The token for the CA was not renewed')
      }
      isFailing = true
      // A policy may permit one of them alone.
      isLookUp = !isKnown && !isLookUp
    }
    await clock.sleep(delayMs, signal).catch(() => undefined)
  }
}

function readAuth(body: string): Readonly<Record<string, unknown>> {
  return partOf(body, 'auth')
}

/** 0 seconds: it does not end. Throws for an answer that does not say it. */
function readLife(
  body: string,
  isLookUp: boolean,
): { readonly seconds: number; readonly isRenewable: boolean } {
  const { ttl, lease_duration, renewable } = partOf(body, isLookUp ? 'data' : 'auth')
  const seconds = isLookUp ? ttl : lease_duration
  if (typeof seconds !== 'number' || seconds < 0) {
    throw new CaError('unreachable', 'the CA does not say how long the token of the hub lives')
  }
  return { seconds, isRenewable: renewable === true }
}

function partOf(body: string, part: 'auth' | 'data'): Readonly<Record<string, unknown>> {
  const parsed = parseJson(body) as Readonly<Record<string, unknown>> | null | undefined
  const found = parsed?.[part]
  return typeof found === 'object' && found !== null ? (found as Record<string, unknown>) : {}
}
