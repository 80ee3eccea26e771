// One endpoint's way through the log: one request at a time, in order, and no other endpoint waits for it.

import { setImmediate as nextTurn } from 'node:timers/promises'
import type { Clock } from '../../platform/clock.ts'
import { describeError } from '../../platform/errors.ts'
import type { Logger } from '../../platform/logger.ts'
import { HubEventType } from '../../protocol/words.ts'
import type { AuditEntry } from '../domain/audit-entry.ts'
import { nameWebhook, type Webhook, type WebhookProgress } from '../domain/webhook.ts'
import { messageOfEntry, type WebhookMessage } from '../domain/webhook-message.ts'
import { decideRetry, passMessage, remainingDelayMs } from '../domain/webhook-retry.ts'
import { recordHubAct } from '../service/hub-acts.ts'
import type { Store, StoreWriter } from '../store/store.ts'
import { type Batch, batchesOf, sizeAfter } from './batches.ts'
import { chooseEntries } from './choose-entries.ts'
import type { Delivery, DeliveryOutcome } from './delivery.ts'
import type { LogTail } from './log-tail.ts'
import type { ProgressKeeper } from './progress-keeper.ts'
import { readEntries } from './read-entries.ts'

export interface LaneDependencies {
  readonly store: Store
  readonly clock: Clock
  readonly random: () => number
  readonly log: Logger
  readonly tail: LogTail
  readonly keeper: ProgressKeeper
  readonly delivery: Pick<Delivery, 'deliver' | 'messagesMax' | 'gatherMs'>
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
      const entries = await readEntries(store.reader, this.#webhook, cursorSeq, messagesMax)
      if (entries.length === 0) {
        // All that there were are of other types: it is not behind.
        if (seen > cursorSeq) this.#note(passMessage(this.#progress, seen))
        await tail.waitBeyond(Math.max(seen, cursorSeq), stop)
        continue
      }
      const chosen = await chooseEntries(store.reader, this.#webhook, entries)
      const chosenAt = clock.now()
      for (const batch of batchesOf(entries, chosen, messagesMax)) {
        await this.#deliverUntilSettled(batch)
        if (this.#isOver()) return
        // Hosts may have other labels since.
        if (Math.abs(clock.now().getTime() - chosenAt.getTime()) > CHOSEN_MS_MAX) break
      }
      // Of a long log nothing may be for this endpoint: all others have a turn meanwhile.
      if (chosen.size === 0) await nextTurn()
      else if (entries.length < messagesMax) await clock.sleep(delivery.gatherMs, stop)
    }
  }

  async #deliverUntilSettled({ skippedSeq, entries }: Batch): Promise<void> {
    if (skippedSeq > this.#progress.cursorSeq) this.#note(passMessage(this.#progress, skippedSeq))
    const messages = new Map<AuditEntry, WebhookMessage>()
    for (const entry of entries) messages.set(entry, await this.#compose(entry))
    while (!this.#isOver()) {
      const { cursorSeq, attempts } = this.#progress
      const waiting = entries.filter(({ seq }) => seq > cursorSeq)
      const sizeMax = Math.min(this.#sizeMax, sizeAfter(attempts, this.#with.delivery.messagesMax))
      const batch = waiting.slice(0, sizeMax)
      const [first, last] = [batch[0], batch.at(-1)]
      if (first === undefined || last === undefined) return
      await this.#waitUntilDue()
      const outcome = await this.#attempt(batch.flatMap((entry) => messages.get(entry) ?? []))
      if (outcome.kind === 'delivered') this.#pass(last)
      else if (outcome.kind === 'gone') await this.#disable(outcome)
      else if (outcome.kind === 'rejected') await this.#halveOrBury(batch, first, outcome)
      else await this.#waitOrBury(first, outcome)
    }
  }

  #pass(last: AuditEntry): void {
    this.#sizeMax = Math.min(this.#with.delivery.messagesMax, this.#sizeMax * 2)
    this.#note(passMessage(this.#succeeded(), last.seq))
  }

  /** Messages that an operator asked for once more; each has one attempt, since the others wait behind it. */
  async #replayDead(): Promise<void> {
    const { store, clock } = this.#with
    const { reader } = store
    for (const dead of await reader.webhooks.listDeadToReplay(this.#webhook.id)) {
      if (this.#isOver()) return
      const [entry] = await reader.listEntries({ afterSeq: dead.seq - 1, limit: 1 })
      if (entry === undefined) continue
      const outcome = await this.#attempt([await this.#compose(entry)])
      if (outcome.kind === 'gone') return this.#disable(outcome)
      const again = outcome.kind === 'delivered' ? undefined : outcome.error
      await this.#writeIfCurrent((writer) =>
        again === undefined
          ? writer.webhooks.removeDead(this.#webhook.id, entry.seq)
          : writer.webhooks.insertDead({ ...dead, diedAt: clock.now(), error: again }),
      )
      if (again === undefined) this.#note(this.#succeeded())
    }
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

  async #waitOrBury(entry: AuditEntry, { error, retryAfterMs }: Outcome<'failed'>): Promise<void> {
    const { clock, random } = this.#with
    const now = clock.now()
    const attempt = { seq: entry.seq, error, retryAfterMs, now, random: random() }
    const verdict = decideRetry(this.#progress, attempt)
    if (verdict.kind === 'dead') return this.#bury(entry, verdict.progress, error, now)
    this.#delayMs = verdict.delayMs
    this.#note(verdict.progress)
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
      return this.#bury(first, passMessage(progress, first.seq), error, now)
    }
    this.#sizeMax = Math.floor(batch.length / 2)
    this.#note(progress)
  }

  async #bury(
    entry: AuditEntry,
    progress: WebhookProgress,
    error: string,
    now: Date,
  ): Promise<void> {
    const { id } = this.#webhook
    await this.#writeIfCurrent(async (writer) => {
      await writer.webhooks.insertDead({ webhookId: id, seq: entry.seq, diedAt: now, error })
      await recordHubAct(writer, now, HubEventType.webhookDead, {
        actor: 'hub',
        ...nameWebhook(this.#webhook),
        seq: entry.seq,
        tipo_evento: entry.eventType,
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
