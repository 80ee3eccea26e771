// One attempt: sign, send, and report the outcome.

import type { Clock } from '../../platform/clock.ts'
import { describeError, errnoCode } from '../../platform/errors.ts'
import type { Secret } from '../../platform/secret.ts'
import { signMessage, type WebhookMessage } from '../domain/webhook-message.ts'
import { parseRetryAfterMs } from '../domain/webhook-retry.ts'
import type { WebhookConnection, WebhookReply } from './webhook-connection.ts'

export type DeliveryOutcome =
  | { readonly kind: 'delivered'; readonly status: number }
  /** 410: it wants nothing any more. */
  | { readonly kind: 'gone'; readonly status: number; readonly error: string }
  | {
      readonly kind: 'failed'
      readonly status: number | undefined
      readonly error: string
      readonly retryAfterMs: number | undefined
    }

export interface DeliverOptions {
  readonly connection: WebhookConnection
  readonly secret: Secret<string>
  readonly clock: Clock
  readonly userAgent: string
}

/** Rejects only with the reason of a signal that was aborted. */
export type DeliverMessage = (
  message: WebhookMessage,
  signal: AbortSignal,
) => Promise<DeliveryOutcome>

const ATTEMPT_TIMEOUT_MS = 10_000
const ERROR_CHARACTERS_MAX = 300
const GONE = 410

export function createDeliverMessage(options: DeliverOptions): DeliverMessage {
  const { connection, secret, clock, userAgent } = options
  return async (message, signal) => {
    const timestamp = Math.floor(clock.now().getTime() / 1000)
    const deadline = AbortSignal.timeout(ATTEMPT_TIMEOUT_MS)
    try {
      const reply = await connection.post({
        headers: {
          'content-type': 'application/json',
          'user-agent': userAgent,
          'webhook-id': message.id,
          'webhook-timestamp': String(timestamp),
          'webhook-signature': signMessage(secret.reveal(), message, timestamp),
        },
        body: message.body,
        signal: AbortSignal.any([signal, deadline]),
      })
      return judgeReply(reply, clock.now())
    } catch (error) {
      signal.throwIfAborted()
      return failed(deadline.aborted ? describeTimeout() : explain(error))
    }
  }
}

function judgeReply({ status, retryAfter }: WebhookReply, now: Date): DeliveryOutcome {
  if (status >= 200 && status < 300) return { kind: 'delivered', status }
  if (status === GONE) return { kind: 'gone', status, error: 'answered 410 Gone' }
  const isRedirect = status >= 300 && status < 400
  const error = isRedirect
    ? `answered ${status}, and the hub does not follow redirects`
    : `answered ${status}`
  const retryAfterMs = retryAfter === undefined ? undefined : parseRetryAfterMs(retryAfter, now)
  return { kind: 'failed', status, error, retryAfterMs }
}

function failed(error: string): DeliveryOutcome {
  return { kind: 'failed', status: undefined, error, retryAfterMs: undefined }
}

function describeTimeout(): string {
  return `no answer within ${ATTEMPT_TIMEOUT_MS / 1000} s`
}

/** An error of several connection attempts has no message of its own, only a code. */
function explain(error: unknown): string {
  const message = error instanceof Error ? error.message : ''
  const text = message === '' ? (errnoCode(error) ?? describeError(error)) : message
  return text.slice(0, ERROR_CHARACTERS_MAX)
}
