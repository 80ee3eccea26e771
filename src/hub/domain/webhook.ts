import type { WebhookId } from '../../protocol/identifiers.ts'
import type { Selector } from '../../protocol/selector.ts'

/** Somebody who is told what enters the audit log: a place in the log, and how far they have got. */
export interface Webhook {
  readonly id: WebhookId
  readonly url: string
  /** The types of entries that it gets; none means all, or for people those that a person should look at: urgent-entries.ts. */
  readonly types: readonly string[]
  /** The hosts that it gets entries about; null for all, and for entries about none. */
  readonly where: Selector | null
  readonly createdAt: Date
  /** Since it answered 410 Gone; null while it is sent to. */
  readonly disabledAt: Date | null
  /** Changes whenever an operator moves the position: an attempt that began before no longer moves it. */
  readonly generation: number
  readonly progress: WebhookProgress
}

export interface WebhookProgress {
  /** Every entry up to here was delivered, is dead, or is none that it gets. */
  readonly cursorSeq: number
  /** How often the message after the cursor has failed, and how long all the waits between were. */
  readonly attempts: number
  readonly waitedMs: number
  readonly nextAttemptAt: Date | null
  readonly lastSuccessAt: Date | null
  readonly lastErrorAt: Date | null
  readonly lastError: string | null
}

/** One that nothing was sent to yet: it gets what comes after `cursorSeq`. */
export function newWebhook({
  cursorSeq,
  ...made
}: Pick<Webhook, 'id' | 'url' | 'types' | 'where' | 'createdAt'> &
  Pick<WebhookProgress, 'cursorSeq'>): Webhook {
  return {
    ...made,
    disabledAt: null,
    generation: 1,
    progress: {
      cursorSeq,
      attempts: 0,
      waitedMs: 0,
      nextAttemptAt: null,
      lastSuccessAt: null,
      lastErrorAt: null,
      lastError: null,
    },
  }
}

/** Of each webhook the newest are kept: a receiver may reject all that it gets. The audit log names every one. */
export const DEAD_MESSAGES_MAX = 1000

/** A message that was given up. */
export interface DeadMessage {
  readonly webhookId: WebhookId
  readonly seq: number
  readonly diedAt: Date
  readonly error: string
}

/** For logs and for other endpoints: never the whole URL, whose path may be all that protects a receiver. */
export function nameWebhook({ id, url }: Pick<Webhook, 'id' | 'url'>): {
  webhook_id: string
  origin: string
} {
  const { protocol, host } = new URL(url)
  return { webhook_id: id, origin: `${protocol}//${host}` }
}
