// Time that passes only when nobody has anything to do: as soon as every activity sleeps, it jumps to the instant at
// which the first of them wakes. One activity is woken at a time, so that a seed gives the same run again.

import { invariant } from '../../src/platform/errors.ts'
import type { Clock } from '../../src/platform/clock.ts'

interface Sleeper {
  readonly wakesAtMs: number
  wake(this: void): void
}

export class VirtualTime implements Clock {
  #nowMs: number
  #awake = 0
  #failure: Error | undefined
  #onIdle: (() => void) | undefined
  readonly #sleepers = new Set<Sleeper>()

  constructor(start: Date) {
    this.#nowMs = start.getTime()
  }

  now(): Date {
    return new Date(this.#nowMs)
  }

  /** For activities only, and for one thing at a time of each. */
  sleep(durationMs: number, signal?: AbortSignal): Promise<void> {
    return new Promise((resolve, reject) => {
      if (signal?.aborted) {
        reject(signal.reason as Error)
        return
      }
      const leave = (): void => {
        this.#sleepers.delete(sleeper)
        signal?.removeEventListener('abort', onAbort)
        this.#awake += 1
      }
      const onAbort = (): void => {
        leave()
        reject(signal?.reason as Error)
      }
      const sleeper: Sleeper = {
        wakesAtMs: this.#nowMs + Math.max(0, durationMs),
        wake: () => {
          leave()
          resolve()
        },
      }
      signal?.addEventListener('abort', onAbort, { once: true })
      this.#sleepers.add(sleeper)
      this.#goQuiet()
    })
  }

  /** Starts an activity: time stands still while it does anything but sleep. */
  start(activity: () => Promise<unknown>): void {
    this.#awake += 1
    activity()
      .catch((error: unknown) => {
        this.#failure ??= error instanceof Error ? error : new Error(String(error))
      })
      .finally(() => this.#goQuiet())
  }

  /** Lets time pass until then; throws what an activity threw. */
  async runUntil(end: Date): Promise<void> {
    for (;;) {
      await this.#idle()
      if (this.#failure !== undefined) throw this.#failure
      const next = this.#firstToWake()
      if (next === undefined || next.wakesAtMs > end.getTime()) break
      this.#nowMs = next.wakesAtMs
      next.wake()
    }
    this.#nowMs = Math.max(this.#nowMs, end.getTime())
  }

  #idle(): Promise<void> {
    if (this.#awake === 0) return Promise.resolve()
    return new Promise((resolve) => {
      this.#onIdle = resolve
    })
  }

  #goQuiet(): void {
    this.#awake -= 1
    invariant(this.#awake >= 0, 'only activities sleep')
    if (this.#awake > 0) return
    this.#onIdle?.()
    this.#onIdle = undefined
  }

  #firstToWake(): Sleeper | undefined {
    let first: Sleeper | undefined
    for (const sleeper of this.#sleepers) {
      if (first === undefined || sleeper.wakesAtMs < first.wakesAtMs) first = sleeper
    }
    return first
  }
}

export interface Nap {
  readonly from: Date
  readonly to: Date
}

/** The clock of one host, which may be wrong; while the host is suspended its timers stand still, as Linux's do. */
export class HostClock implements Clock {
  readonly #time: VirtualTime
  readonly #offsetMs: number
  readonly #naps: readonly Nap[]

  /** `naps` are in order and apart. */
  constructor(time: VirtualTime, offsetMs: number, naps: readonly Nap[]) {
    this.#time = time
    this.#offsetMs = offsetMs
    this.#naps = naps
  }

  now(): Date {
    return new Date(this.#time.now().getTime() + this.#offsetMs)
  }

  sleep(durationMs: number, signal?: AbortSignal): Promise<void> {
    const startMs = this.#time.now().getTime()
    let endMs = startMs + durationMs
    for (const { from, to } of this.#naps) {
      const isCut = startMs < to.getTime() && endMs > from.getTime()
      if (isCut) endMs += to.getTime() - Math.max(from.getTime(), startMs)
    }
    return this.#time.sleep(endMs - startMs, signal)
  }
}
