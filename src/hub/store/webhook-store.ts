// What the store keeps of webhooks. Messages are not rows: an endpoint is a place in the audit log, and only what it gave
// up is written down.

import type { WebhookId } from '../../protocol/identifiers.ts'
import type { DeadMessage, Webhook, WebhookProgress } from '../domain/webhook.ts'

export interface WebhookReader {
  find(id: WebhookId): Promise<Webhook | undefined>
  /** Oldest first. */
  list(): Promise<Webhook[]>
  /** `whsec_…`. */
  findSecret(id: WebhookId): Promise<string | undefined>
  /** By `seq`. */
  listDead(id: WebhookId): Promise<DeadMessage[]>
  countDead(id: WebhookId): Promise<number>
  /** Messages that an operator wants to be sent once more, by `seq`. */
  listDeadToReplay(id: WebhookId): Promise<DeadMessage[]>
  /** Entries of one type after `afterSeq`; counts no further than `max`. */
  countEntriesOfType(eventType: string, afterSeq: number, max: number): Promise<number>
}

export interface WebhookWriter extends WebhookReader {
  insert(webhook: Webhook, secret: string): Promise<void>
  /** With what it gave up. Whether it was there. */
  remove(id: WebhookId): Promise<boolean>
  /** Whether it is still that generation; else nothing changes. */
  setProgress(id: WebhookId, generation: number, progress: WebhookProgress): Promise<boolean>
  /** Its types and its selector from now on; it becomes another generation, which goes on from where it is. */
  setFilter(webhook: Webhook): Promise<void>
  setDisabled(id: WebhookId, at: Date): Promise<void>
  /** Makes it another generation, which goes on from there at once. */
  restart(id: WebhookId, cursorSeq: number): Promise<void>
  /**
   * A message that is there already becomes dead again, and is no longer marked for a replay. Of each webhook the oldest beyond
   * DEAD_MESSAGES_MAX go.
   */
  insertDead(...messages: readonly DeadMessage[]): Promise<void>
  markDeadToReplay(id: WebhookId): Promise<void>
  /** The dead messages after `afterSeq`. */
  removeDeadAfter(id: WebhookId, afterSeq: number): Promise<void>
  removeDead(id: WebhookId, seq: number): Promise<void>
}
