// The hook of every installed version runs until it has succeeded once, also while its event waits for the hub. Hooks
// run beside the rounds, so that one that hangs holds up neither polling nor the hooks of other deliveries.

import type { Clock } from '../../platform/clock.ts'
import { describeError } from '../../platform/errors.ts'
import type { Logger } from '../../platform/logger.ts'
import type { DeliveryId } from '../../protocol/identifiers.ts'
import { parseArtefactName } from '../../protocol/identifiers.ts'
import { type Random, RetrySchedule } from '../hub/backoff.ts'
import type { HubTime } from '../hub/time.ts'
import type { Outbox } from '../hub/outbox.ts'
import { type HookFailureReport, hookFailed } from '../hub/wire.ts'
import type { HookRunner } from './hook-runner.ts'
import { DELIVERY_KINDS } from './delivery-kinds.ts'
import type { ProcessedDelivery, ProcessedStore } from './processed-store.ts'

export interface HookContext {
  readonly outDir: string
  readonly caPath: string
  readonly clock: Clock
  readonly hubTime: Pick<HubTime, 'now'>
  readonly random: Random
  readonly processed: ProcessedStore
  readonly outbox: Pick<Outbox, 'enqueue'>
  readonly hookRunner: HookRunner
  readonly hookLog: Logger
}

const RUNNING_MAX = 4
/** The wall clock is looked at this often: it may have been set, or the machine may have slept. */
const SLICE_MS = 60_000

export class HookLane {
  readonly #context: HookContext
  readonly #retries: RetrySchedule
  /** One at a time of each delivery. */
  readonly #running = new Map<DeliveryId, Promise<void>>()
  /** Hooks whose files are not there: the next round looks again. */
  readonly #skipped = new Set<DeliveryId>()
  #problems: string[] = []
  #hostname = ''
  #isSelfDriven = false
  #alarm = new AbortController()

  constructor(context: HookContext) {
    this.#context = context
    this.#retries = new RetrySchedule(context.random)
  }

  /** Starts what is due now, without waiting for it. */
  start(hostname: string): void {
    this.#hostname = hostname
    this.#skipped.clear()
    this.#problems = []
    this.#fill()
  }

  /** Starts what has become due since `start`. */
  startMore(): void {
    this.#skipped.clear()
    this.#fill()
  }

  /** From now on retries come at their time, whenever the next round is. */
  driveItself(): void {
    this.#isSelfDriven = true
  }

  /** Resolves with what went wrong since `start` when nothing runs any more. */
  async settled(): Promise<readonly string[]> {
    while (this.#running.size > 0) await Promise.race(this.#running.values())
    return this.#problems
  }

  #fill(): void {
    const { processed, clock } = this.#context
    // One instant for all: what becomes due between two looks at the clock would have neither a start nor an alarm.
    const now = clock.now()
    const waiting = processed.list().filter((record) => this.#isWaiting(record))
    this.#retries.keepOnly((id) => waiting.some(({ deliveryId }) => deliveryId === id))
    for (const record of waiting) {
      const { deliveryId } = record
      if (this.#running.size >= RUNNING_MAX) break
      if (this.#running.has(deliveryId) || this.#skipped.has(deliveryId)) continue
      if (!this.#retries.isDue(deliveryId, now)) continue
      const work = this.#work(record).finally(() => {
        this.#running.delete(deliveryId)
        this.#fill()
      })
      this.#running.set(deliveryId, work)
    }
    if (this.#isSelfDriven) this.#setAlarm(now)
  }

  #isWaiting({ progress, cancelled }: ProcessedDelivery): boolean {
    return progress === 'event_queued' && !cancelled
  }

  #setAlarm(now: Date): void {
    this.#alarm.abort()
    const alarm = new AbortController()
    this.#alarm = alarm
    const { clock } = this.#context
    const dueMs = this.#retries.nextDueMs()
    if (dueMs === undefined) return
    const delayMs = Math.min(SLICE_MS, Math.max(0, dueMs - now.getTime()))
    // What is due but has no room is started by the end of one that runs.
    if (delayMs === 0) return
    clock.sleep(delayMs, alarm.signal).then(
      () => this.#fill(),
      () => undefined,
    )
  }

  /** Never rejects: a hook that cannot even be tried now is tried later. */
  async #work(record: ProcessedDelivery): Promise<void> {
    const { clock, hookLog } = this.#context
    try {
      const failures = await this.#runHooksOf(record)
      if (failures !== undefined) await this.#settle(record, failures)
    } catch (error) {
      const reason = describeError(error)
      hookLog.warn({ delivery_id: record.deliveryId, error: reason }, 'Hook postponed')
      this.#retries.recordFailure(record.deliveryId, clock.now())
      this.#problems.push(reason)
    }
  }

  /** Undefined when there is nothing to run now. */
  async #runHooksOf(record: ProcessedDelivery): Promise<HookFailureReport[] | undefined> {
    const { outDir, caPath, hookRunner, clock, hubTime } = this.#context
    const { deliveryId, cargoId, version, hookEvent } = record
    const kind = DELIVERY_KINDS[record.kind]
    const name = parseArtefactName(record.name)
    const artefact = name && (await kind.read(outDir, name))
    if (name === undefined || artefact?.record.delivery_id !== deliveryId) {
      // Not there, or another delivery's: then this version's hook is not due any more.
      this.#skipped.add(deliveryId)
      return undefined
    }
    const earlyMs = (artefact.leaf?.notBefore.getTime() ?? 0) - hubTime.now().getTime()
    if (earlyMs > 0) {
      // A service that takes up a certificate before its time fails with it.
      this.#retries.postpone(deliveryId, clock.now(), earlyMs)
      return undefined
    }
    return hookRunner.run({
      ...kind.hookOf({ outDir, name, caPath }, artefact),
      event: hookEvent,
      name,
      deliveryId,
      cargoId,
      version,
      hostname: this.#hostname,
    })
  }

  async #settle(record: ProcessedDelivery, failures: readonly HookFailureReport[]): Promise<void> {
    const { processed, outbox, clock } = this.#context
    const { deliveryId, name, mark } = record
    /** A version that was installed while the hook ran has a run of its own to come. */
    const isSameVersion = (current: ProcessedDelivery): boolean =>
      current.mark === mark && current.progress === 'event_queued'
    if (failures.length === 0) {
      await processed.update(deliveryId, (current) =>
        isSameVersion(current)
          ? { ...current, progress: 'done', reportedHookFailure: null }
          : undefined,
      )
      this.#retries.clear(deliveryId)
      return
    }
    this.#retries.recordFailure(deliveryId, clock.now())
    this.#problems.push(...failures.map(({ hook, reason }) => `${hook}: ${reason}`))
    const summary = failures.map(({ hook, reason }) => `${hook}: ${reason}`).join('; ')
    if (summary === record.reportedHookFailure) return
    for (const failure of failures) await outbox.enqueue(hookFailed(deliveryId, name, failure))
    await processed.update(deliveryId, (current) =>
      isSameVersion(current) ? { ...current, reportedHookFailure: summary } : undefined,
    )
  }
}
