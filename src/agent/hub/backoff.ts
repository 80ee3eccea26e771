// When to try again: seconds, doubling to five minutes, spread so that a fleet does not come back in step.

import type { Clock } from '../../platform/clock.ts'

export type Random = () => number

const FIRST_DELAY_MS = 1000
const DELAY_MS_MAX = 5 * 60_000
/** What a hub does not know yet is asked for again so much later: it may be upgraded. */
export const UNKNOWN_ROUTE_AGAIN_MS = 3_600_000
/** The wall clock is looked at this often: it may have been set, or the machine may have slept. */
const SLICE_MS = 60_000

/** `failures` is how many there were in a row, from 1; between half and all of the doubled delay. */
export function backoffDelayMs(failures: number, random: Random): number {
  const fullMs = Math.min(DELAY_MS_MAX, FIRST_DELAY_MS * 2 ** Math.min(failures - 1, 20))
  return Math.round(fullMs * (0.5 + random() / 2))
}

/** Ends early when woken, or when the clock was set back: then the waited time is unknown. */
export async function waitFor(clock: Clock, durationMs: number, wake: AbortSignal): Promise<void> {
  const startMs = clock.now().getTime()
  for (;;) {
    const nowMs = clock.now().getTime()
    const leftMs = startMs + durationMs - nowMs
    if (wake.aborted || leftMs <= 0 || nowMs < startMs) return
    await clock.sleep(Math.min(leftMs, SLICE_MS), wake).catch((error: unknown) => {
      if (!wake.aborted) throw error
    })
  }
}

interface Entry {
  readonly failures: number
  readonly notBeforeMs: number
  /** When this was decided; a clock that shows less has been set back. */
  readonly sinceMs: number
  /** Something is to be done then, and not only not before. */
  readonly isAwaited: boolean
}

/**
 * One attempt at what must not be asked for more often than that. Counted from the end of the attempt, however it
 * ends: one request takes longer on its way than another, so that two which begin a minute apart may arrive closer.
 */
export async function attemptSpaced<Value>(
  retries: RetrySchedule,
  name: string,
  { clock, intervalMs }: { readonly clock: Clock; readonly intervalMs: number },
  work: () => Promise<Value>,
): Promise<Value> {
  try {
    return await work()
  } finally {
    retries.holdOff(name, clock.now(), intervalMs)
  }
}

/** Remembers, by name, what failed and when it may be tried again; forgotten when the process ends. */
export class RetrySchedule {
  readonly #random: Random
  readonly #entries = new Map<string, Entry>()

  constructor(random: Random) {
    this.#random = random
  }

  isDue(name: string, now: Date): boolean {
    const entry = this.#entries.get(name)
    if (entry === undefined) return true
    const nowMs = now.getTime()
    return nowMs >= entry.notBeforeMs || nowMs < entry.sinceMs
  }

  /** `delayMsMin` is what the other side asked for, or a limit of our own; a hold-off that is in force stays. */
  recordFailure(name: string, now: Date, delayMsMin = 0): void {
    const entry = this.#entries.get(name)
    const failures = (entry?.failures ?? 0) + 1
    const isHeld = entry !== undefined && entry.sinceMs <= now.getTime()
    const heldMs = isHeld ? entry.notBeforeMs - now.getTime() : 0
    const delayMs = Math.max(delayMsMin, heldMs, backoffDelayMs(failures, this.#random))
    this.#set(name, now, { failures, delayMs, isAwaited: true })
  }

  /** Not before then, though nothing has failed. */
  holdOff(name: string, now: Date, delayMs: number): void {
    const failures = this.#entries.get(name)?.failures ?? 0
    this.#set(name, now, { failures, delayMs, isAwaited: failures > 0 })
  }

  /** Then, though nothing has failed. */
  postpone(name: string, now: Date, delayMs: number): void {
    this.#set(name, now, { failures: 0, delayMs, isAwaited: true })
  }

  recordSuccess(name: string): void {
    const entry = this.#entries.get(name)
    if (entry !== undefined) this.#entries.set(name, { ...entry, failures: 0, isAwaited: false })
  }

  clear(name: string): void {
    this.#entries.delete(name)
  }

  /** Forgets the names that are not of interest any more. */
  keepOnly(isWanted: (name: string) => boolean): void {
    for (const name of this.#entries.keys()) if (!isWanted(name)) this.#entries.delete(name)
  }

  /**
   * The earliest instant at which something is to be tried again. What was due before `since` had its chance in the
   * round that began then; if it was left alone nobody wants it any more, and it must not keep the agent awake.
   */
  nextDueMs(since?: Date): number | undefined {
    const sinceMs = since?.getTime() ?? Number.NEGATIVE_INFINITY
    const times = [...this.#entries.values()]
      .filter(({ isAwaited, notBeforeMs }) => isAwaited && notBeforeMs > sinceMs)
      .map(({ notBeforeMs }) => notBeforeMs)
    return times.length === 0 ? undefined : Math.min(...times)
  }

  #set(
    name: string,
    now: Date,
    { failures, delayMs, isAwaited }: { failures: number; delayMs: number; isAwaited: boolean },
  ): void {
    const sinceMs = now.getTime()
    this.#entries.set(name, { failures, notBeforeMs: sinceMs + delayMs, sinceMs, isAwaited })
  }
}
