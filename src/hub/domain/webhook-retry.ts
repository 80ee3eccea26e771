// When a message that failed is tried again, and when it is given up. The waits themselves are counted, not the time on
// the clock between two instants: a clock that jumps, or a hub that is down, takes nothing from a message's three days.

import type { WebhookProgress } from './webhook.ts'

export type RetryVerdict =
  | { readonly kind: 'wait'; readonly delayMs: number; readonly progress: WebhookProgress }
  | { readonly kind: 'dead'; readonly progress: WebhookProgress }

export interface FailedAttempt {
  /** Of the message that failed. */
  readonly seq: number
  readonly error: string
  /** What the receiver asks for. */
  readonly retryAfterMs: number | undefined
  readonly now: Date
  /** From 0 to 1. */
  readonly random: number
}

const FIRST_DELAY_MS = 1000
export const DELAY_MS_MAX = 3_600_000
const WAITED_MS_MAX = 3 * 86_400_000

export function decideRetry(progress: WebhookProgress, failed: FailedAttempt): RetryVerdict {
  const failure = { ...progress, lastErrorAt: failed.now, lastError: failed.error }
  if (progress.waitedMs >= WAITED_MS_MAX) {
    return { kind: 'dead', progress: passMessage(failure, failed.seq) }
  }
  const doubled = Math.min(DELAY_MS_MAX, FIRST_DELAY_MS * 2 ** progress.attempts)
  // Between half of the pause and the whole pause, so that messages that failed together do not come back together.
  const backoffMs = doubled * (0.5 + failed.random / 2)
  const delayMs = Math.round(Math.min(DELAY_MS_MAX, Math.max(backoffMs, failed.retryAfterMs ?? 0)))
  return {
    kind: 'wait',
    delayMs,
    progress: {
      ...failure,
      attempts: progress.attempts + 1,
      nextAttemptAt: new Date(failed.now.getTime() + delayMs),
    },
  }
}

/** The hub is done with the message, whether it was delivered or given up. */
export function passMessage(progress: WebhookProgress, seq: number): WebhookProgress {
  return { ...progress, cursorSeq: seq, attempts: 0, waitedMs: 0, nextAttemptAt: null }
}

/** What is left to wait after a start; never more than any wait is, wherever the clock is now. */
export function remainingDelayMs({ nextAttemptAt }: WebhookProgress, now: Date): number {
  if (nextAttemptAt === null) return 0
  return Math.min(DELAY_MS_MAX, Math.max(0, nextAttemptAt.getTime() - now.getTime()))
}

/** Seconds or an HTTP date (RFC 9110, 10.2.3); undefined for any other text. */
export function parseRetryAfterMs(text: string, now: Date): number | undefined {
  if (/^\d{1,9}$/.test(text)) return Number(text) * 1000
  const at = Date.parse(text)
  return /[A-Za-z]/.test(text) && !Number.isNaN(at) ? Math.max(0, at - now.getTime()) : undefined
}
