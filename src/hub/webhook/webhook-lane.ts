// One endpoint's way through the log: one request at a time, in order, and no other endpoint waits for it.

import { setImmediate as nextTurn } from 'node:timers/promises'
import type { Clock } from '../../platform/clock.ts'
import { describeError } from '../../platform/errors.ts'
import type { Logger } from '../../platform/logger.ts'
import { HubEventType } from '../../protocol/words.ts'
import type { AuditEntry } from '../domain/audit-entry.ts'
import {
  type DeadMessage,
  nameWebhook,
  type Webhook,
  type WebhookProgress,
} from '../domain/webhook.ts'
import { messageOfEntry, type WebhookMessage } from '../domain/webhook-message.ts'
import { decideRetry, passMessage, remainingDelayMs } from '../domain/webhook-retry.ts'
import { recordHubAct } from '../service/hub-acts.ts'
import type { Store, StoreWriter } from '../store/store.ts'
import { type Batch, batchesOf, sizeAfter } from './batches.ts'
import type { Delivery, DeliveryOutcome } from './delivery.ts'
import type { LogTail } from './log-tail.ts'
import type { ProgressKeeper } from './progress-keeper.ts'
import { readChosen } from './read-page.ts'

export interface LaneDependencies {
  readonly store: Store
  readonly clock: Clock
  readonly random: () => number
  readonly log: Logger
  readonly tail: LogTail
  readonly keeper: ProgressKeeper
  readonly delivery: Omit<Delivery, 'close'>
  /** Takes a turn, of which all lanes share so many a second; otherwise says how long until the next free turn. */
  readonly takeTurn: () => number
  /** Nothing more is begun. */
  readonly stop: AbortSignal
  /** What is under way ends too. */
  readonly cut: AbortSignal
}

type Outcome<Kind extends DeliveryOutcome['kind']> = Extract<DeliveryOutcome, { kind: Kind }>

const INTERRUPTION_MS = 5000
const TURN_WAIT_MS_MIN = 50
/** For so long what the hub read of hosts counts for the entries after. */
const CHOSEN_MS_MAX = 5000

export class WebhookLane {
  readonly #webhook: Webhook
  readonly #with: LaneDependencies
  #progress: WebhookProgress
  #delayMs: number
  /** Smaller after each batch of which some were rejected, and greater again with each that is delivered. */
  #sizeMax: number
  /** It was disabled, removed or moved. */
  #isEnded = false

  constructor(webhook: Webhook, dependencies: LaneDependencies) {
    this.#webhook = webhook
    this.#with = dependencies
    this.#progress = webhook.progress
    this.#delayMs = remainingDelayMs(webhook.progress, dependencies.clock.now())
    this.#sizeMax = dependencies.delivery.messagesMax
  }

  /** Runs until somebody stops it. A failing store delays it only for a moment. */
  async run(): Promise<void> {
    const { stop, log, clock } = this.#with
    while (!this.#isOver()) {
      try {
        await this.#replayDead()
        await this.#follow()
      } catch (error) {
        if (stop.aborted) return
        log.warn(
          { ...nameWebhook(this.#webhook), reason: describeError(error) },
          'Webhook interrupted',
        )
        await clock.sleep(INTERRUPTION_MS, stop).catch(() => undefined)
      }
    }
  }

  async #follow(): Promise<void> {
    const { store, tail, stop, clock, delivery } = this.#with
    while (!this.#isOver()) {
      const seen = tail.seq
      const { cursorSeq } = this.#progress
      const { messagesMax } = delivery
      const { entries, chosen } = await readChosen(store.reader, this.#webhook, cursorSeq, delivery)
      if (entries.length === 0) {
        // All that there were are of other types: it is not behind.
        if (seen > cursorSeq) this.#note(passMessage(this.#progress, seen))
        await tail.waitBeyond(Math.max(seen, cursorSeq), stop)
        continue
      }
      const chosenAt = clock.now()
      for (const batch of batchesOf(entries, chosen, messagesMax)) {
        await this.#deliverUntilSettled(batch)
        if (this.#isOver()) return
        if (delivery.isDigest && batch.entries.length > 0)
          await clock.sleep(delivery.gatherMs, stop)
        // Hosts may have other labels since.
        if (Math.abs(clock.now().getTime() - chosenAt.getTime()) > CHOSEN_MS_MAX) break
      }
      // Of a long log nothing may be for this endpoint: all others have a turn meanwhile.
      if (chosen.size === 0) await nextTurn()
      else if (!delivery.isDigest && entries.length < messagesMax) {
        await clock.sleep(delivery.gatherMs, stop)
      }
    }
  }

  async #deliverUntilSettled({ skippedSeq, entries }: Batch): Promise<void> {
    if (skippedSeq > this.#progress.cursorSeq) this.#note(passMessage(this.#progress, skippedSeq))
    const messages = new Map<AuditEntry, WebhookMessage>()
    for (const entry of entries) messages.set(entry, await this.#compose(entry))
    while (!this.#isOver()) {
      const { cursorSeq, attempts } = this.#progress
      const waiting = entries.filter(({ seq }) => seq > cursorSeq)
      const batch = waiting.slice(0, this.#sizeOfNext(attempts))
      const [first, last] = [batch[0], batch.at(-1)]
      if (first === undefined || last === undefined) return
      await this.#waitUntilDue()
      const outcome = await this.#attempt(batch.flatMap((entry) => messages.get(entry) ?? []))
      if (outcome.kind === 'delivered') this.#pass(last)
      else if (outcome.kind === 'gone') await this.#disable(outcome)
      else if (outcome.kind === 'rejected') await this.#halveOrBury(batch, first, outcome)
      else if (outcome.kind === 'refused') await this.#refuse(batch, last, outcome)
      else await this.#waitOrBury(batch, first, outcome)
    }
  }

  /** A digest is not divided: it fails by itself, and not by one of its entries. */
  #sizeOfNext(attempts: number): number {
    const { isDigest, messagesMax } = this.#with.delivery
    return isDigest ? messagesMax : Math.min(this.#sizeMax, sizeAfter(attempts, messagesMax))
  }

  #pass(last: AuditEntry): void {
    this.#sizeMax = Math.min(this.#with.delivery.messagesMax, this.#sizeMax * 2)
    this.#note(passMessage(this.#succeeded(), last.seq))
  }

  /** Messages that an operator asked for once more; each has one attempt, since the others wait behind it. */
  async #replayDead(): Promise<void> {
    const { store, clock, stop, delivery } = this.#with
    const waiting = await store.reader.webhooks.listDeadToReplay(this.#webhook.id)
    const size = delivery.isDigest ? delivery.messagesMax : 1
    for (let from = 0; from < waiting.length; from += size) {
      if (this.#isOver()) return
      if (from > 0) await clock.sleep(delivery.gatherMs, stop)
      await this.#replayTogether(waiting.slice(from, from + size))
    }
  }

  async #replayTogether(dead: readonly DeadMessage[]): Promise<void> {
    const { store, clock } = this.#with
    const messages: WebhookMessage[] = []
    for (const { seq } of dead) {
      const [entry] = await store.reader.listEntries({ afterSeq: seq - 1, limit: 1 })
      if (entry !== undefined) messages.push(await this.#compose(entry))
    }
    if (messages.length === 0) return
    const outcome = await this.#attempt(messages)
    if (outcome.kind === 'gone') return this.#disable(outcome)
    const again = outcome.kind === 'delivered' ? undefined : outcome.error
    await this.#writeIfCurrent(async (writer) => {
      if (again !== undefined) {
        const diedAt = clock.now()
        return writer.webhooks.insertDead(
          ...dead.map((each) => ({ ...each, diedAt, error: again })),
        )
      }
      for (const { seq } of dead) await writer.webhooks.removeDead(this.#webhook.id, seq)
    })
    if (again === undefined) this.#note(this.#succeeded())
  }

  async #compose(entry: AuditEntry): Promise<WebhookMessage> {
    const { reader } = this.#with.store
    const agent = entry.agentId === null ? undefined : await reader.findAgentById(entry.agentId)
    return messageOfEntry(this.#webhook.id, entry, agent?.hostname ?? null)
  }

  async #waitUntilDue(): Promise<void> {
    if (this.#delayMs === 0) return
    await this.#with.clock.sleep(this.#delayMs, this.#with.stop)
    this.#progress = {
      ...this.#progress,
      waitedMs: this.#progress.waitedMs + this.#delayMs,
      nextAttemptAt: null,
    }
    this.#delayMs = 0
  }

  async #waitForTurn(): Promise<void> {
    const { clock, takeTurn, stop } = this.#with
    for (let waitMs = takeTurn(); waitMs > 0; waitMs = takeTurn()) {
      await clock.sleep(Math.max(waitMs, TURN_WAIT_MS_MIN), stop)
    }
  }

  async #attempt(messages: readonly WebhookMessage[]): Promise<DeliveryOutcome> {
    const { log, delivery, cut } = this.#with
    await this.#waitForTurn()
    const outcome = await delivery.deliver(messages, cut)
    const { kind, status } = outcome
    const sent = {
      ...nameWebhook(this.#webhook),
      message: messages[0]?.id,
      ...(messages.length > 1 && { messages: messages.length }),
    }
    if (kind === 'delivered') {
      log.debug({ ...sent, status }, 'Webhook delivered')
    } else {
      const { attempts } = this.#progress
      log.warn({ ...sent, attempts, reason: outcome.error }, 'Webhook failed')
    }
    return outcome
  }

  async #waitOrBury(
    batch: readonly AuditEntry[],
    first: AuditEntry,
    { error, retryAfterMs }: Outcome<'failed'>,
  ): Promise<void> {
    const { clock, random, delivery } = this.#with
    const now = clock.now()
    const lost = delivery.isDigest ? batch : [first]
    const seq = lost.at(-1)?.seq ?? first.seq
    const attempt = { seq, error, retryAfterMs, now, random: random() }
    const verdict = decideRetry(this.#progress, attempt)
    if (verdict.kind === 'dead') return this.#bury(lost, verdict.progress, error, now)
    this.#delayMs = verdict.delayMs
    this.#note(verdict.progress)
  }

  /** To send the same once more is no use. */
  async #refuse(
    batch: readonly AuditEntry[],
    last: AuditEntry,
    { error }: Outcome<'refused'>,
  ): Promise<void> {
    const now = this.#with.clock.now()
    const progress = { ...this.#progress, lastErrorAt: now, lastError: error }
    return this.#bury(batch, passMessage(progress, last.seq), error, now)
  }

  /** Nothing is gained by waiting for what the receiver said that it will not take: only which entry that is has to be found. */
  async #halveOrBury(
    batch: readonly AuditEntry[],
    first: AuditEntry,
    { error }: Outcome<'rejected'>,
  ): Promise<void> {
    const now = this.#with.clock.now()
    const progress = { ...this.#progress, lastErrorAt: now, lastError: error }
    if (batch.length === 1) {
      return this.#bury([first], passMessage(progress, first.seq), error, now)
    }
    this.#sizeMax = Math.floor(batch.length / 2)
    this.#note(progress)
  }

  /** One entry of the log says it of all that would have gone together. */
  async #bury(
    lost: readonly AuditEntry[],
    progress: WebhookProgress,
    error: string,
    now: Date,
  ): Promise<void> {
    const [first, last] = [lost[0], lost.at(-1)]
    if (first === undefined || last === undefined) return
    const { id } = this.#webhook
    await this.#writeIfCurrent(async (writer) => {
      await writer.webhooks.insertDead(
        ...lost.map(({ seq }) => ({ webhookId: id, seq, diedAt: now, error })),
      )
      await recordHubAct(writer, now, HubEventType.webhookDead, {
        actor: 'hub',
        ...nameWebhook(this.#webhook),
        seq: first.seq,
        tipo_evento: first.eventType,
        ...(lost.length > 1 && { ate: last.seq, entradas: lost.length }),
        erro: error,
      })
    }, progress)
  }

  async #disable({ error }: Outcome<'gone'>): Promise<void> {
    const now = this.#with.clock.now()
    const progress = { ...this.#progress, lastErrorAt: now, lastError: error }
    await this.#writeIfCurrent(async (writer) => {
      await writer.webhooks.setDisabled(this.#webhook.id, now)
      await recordHubAct(writer, now, HubEventType.webhookDisabled, {
        actor: 'hub',
        ...nameWebhook(this.#webhook),
        erro: error,
      })
    }, progress)
    this.#isEnded = true
  }

  /** With the progress, in one commit; nothing at all when the endpoint was removed or moved meanwhile. */
  async #writeIfCurrent(
    work: (writer: StoreWriter) => Promise<void>,
    progress: WebhookProgress = this.#progress,
  ): Promise<void> {
    const { id, generation } = this.#webhook
    const isCurrent = await this.#with.store.write(async (writer) => {
      if (!(await writer.webhooks.setProgress(id, generation, progress))) return false
      await work(writer)
      return true
    })
    if (isCurrent) this.#note(progress)
    else this.#isEnded = true
  }

  #note(progress: WebhookProgress): void {
    this.#progress = progress
    this.#with.keeper.note(this.#webhook.id, this.#webhook.generation, progress)
  }

  #succeeded(): WebhookProgress {
    return { ...this.#progress, lastSuccessAt: this.#with.clock.now() }
  }

  #isOver(): boolean {
    return this.#isEnded || this.#with.stop.aborted
  }
}
