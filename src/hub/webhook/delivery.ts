// What a lane sends by: some messages at once, in the form that the receiver takes, and the outcome.

import { describeError, errnoCode } from '../../platform/errors.ts'
import type { WebhookMessage } from '../domain/webhook-message.ts'

export type DeliveryOutcome =
  | { readonly kind: 'delivered'; readonly status: number | undefined }
  /** It wants nothing any more, or there is nobody any more who could. */
  | { readonly kind: 'gone'; readonly status: number; readonly error: string }
  /** It will never take these. */
  | { readonly kind: 'refused'; readonly status: number; readonly error: string }
  /** It took some of them, and will never take the others: to send the same again is no use. */
  | { readonly kind: 'rejected'; readonly status: number; readonly error: string }
  | {
      readonly kind: 'failed'
      readonly status: number | undefined
      readonly error: string
      readonly retryAfterMs: number | undefined
    }

export interface Delivery {
  /** So many go at once. */
  readonly messagesMax: number
  /** How long a lane that has sent all that there is waits for more, so that few do not go one by one. */
  readonly gatherMs: number
  /** One message to people stands for all of them: it goes as a whole, and the next one not before `gatherMs` are over. */
  readonly isDigest: boolean
  /** Rejects only with the reason of a signal that was aborted. */
  deliver(messages: readonly WebhookMessage[], signal: AbortSignal): Promise<DeliveryOutcome>
  close(): Promise<void>
}

const ATTEMPT_TIMEOUT_MS = 10_000
const ERROR_CHARACTERS_MAX = 300

/** Whatever `send` throws is a failure, and so is what takes too long. */
export async function attemptDelivery(
  send: (signal: AbortSignal) => Promise<DeliveryOutcome>,
  cut: AbortSignal,
  timeoutMs: number = ATTEMPT_TIMEOUT_MS,
): Promise<DeliveryOutcome> {
  const deadline = AbortSignal.timeout(timeoutMs)
  try {
    return await send(AbortSignal.any([cut, deadline]))
  } catch (error) {
    cut.throwIfAborted()
    return failed(deadline.aborted ? describeTimeout(timeoutMs) : explain(error))
  }
}

function failed(error: string): DeliveryOutcome {
  return { kind: 'failed', status: undefined, error, retryAfterMs: undefined }
}

function describeTimeout(timeoutMs: number): string {
  return `no answer within ${timeoutMs / 1000} s`
}

/** An error of several connection attempts has no message of its own, only a code. */
function explain(error: unknown): string {
  const message = error instanceof Error ? error.message : ''
  const text = message === '' ? (errnoCode(error) ?? describeError(error)) : message
  return text.slice(0, ERROR_CHARACTERS_MAX)
}
