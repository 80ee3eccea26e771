// What a lane sends by: some messages at once, in the form that the receiver takes, and the outcome.

import { describeError, errnoCode } from '../../platform/errors.ts'
import type { WebhookMessage } from '../domain/webhook-message.ts'

export type DeliveryOutcome =
  | { readonly kind: 'delivered'; readonly status: number | undefined }
  /** 410: it wants nothing any more. */
  | { readonly kind: 'gone'; readonly status: number; readonly error: string }
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
): Promise<DeliveryOutcome> {
  const deadline = AbortSignal.timeout(ATTEMPT_TIMEOUT_MS)
  try {
    return await send(AbortSignal.any([cut, deadline]))
  } catch (error) {
    cut.throwIfAborted()
    return failed(deadline.aborted ? describeTimeout() : explain(error))
  }
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
