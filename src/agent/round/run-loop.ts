// The only loop: a round, a wait, for ever. It ends by a signal's default action, whatever it was doing.

import type { Clock } from '../../platform/clock.ts'
import { describeError } from '../../platform/errors.ts'
import type { Logger } from '../../platform/logger.ts'
import { backoffDelayMs, type Random, waitFor } from '../hub/backoff.ts'
import type { PollResult } from './poll.ts'

export interface RunLoop {
  /** Never resolves. */
  run(): Promise<never>
  /** Resolves with the result of a round that begins from now on. */
  pollNow(): Promise<PollResult>
  wake(): void
  readonly lastResult: PollResult | undefined
  /** When the next round begins unless something wakes the loop; undefined while one is under way. */
  readonly nextPollAt: Date | undefined
}

export interface RunLoopOptions {
  readonly clock: Clock
  readonly random: Random
  readonly intervalMs: number
  readonly log: Logger
  readonly poll: () => Promise<PollResult>
}

export interface NextDelayInput {
  readonly intervalMs: number
  /** Rounds in a row without a manifest. */
  readonly failures: number
  readonly retryAfterMs: number
  /** When something that failed alone may be tried again. */
  readonly nextRetryMs: number | undefined
  readonly nowMs: number
}

const DELAY_MS_MIN = 1000

/** How long to wait for the next round. */
export function decideNextDelayMs(input: NextDelayInput, random: Random): number {
  const { intervalMs, failures, retryAfterMs, nextRetryMs, nowMs } = input
  if (failures > 0) return Math.max(backoffDelayMs(failures, random), retryAfterMs)
  // Spread by a tenth, so that a fleet that was started together does not poll together.
  const regularMs = intervalMs * (0.9 + random() * 0.2)
  if (nextRetryMs === undefined) return Math.max(regularMs, retryAfterMs)
  const untilRetryMs = Math.max(DELAY_MS_MIN, nextRetryMs - nowMs)
  return Math.max(Math.min(regularMs, untilRetryMs), retryAfterMs)
}

export function createRunLoop(options: RunLoopOptions): RunLoop {
  const { clock, random, log } = options
  let alarm = new AbortController()
  let lastResult: PollResult | undefined
  let nextPollAt: Date | undefined
  let failures = 0
  let waiters: ((result: PollResult) => void)[] = []

  async function round(): Promise<number> {
    const mine = waiters
    waiters = []
    const result = await pollSafely(options, log)
    lastResult = result
    failures = result.hasManifest ? 0 : failures + 1
    for (const resolve of mine) resolve(result)
    return decideNextDelayMs(
      {
        intervalMs: options.intervalMs,
        failures,
        retryAfterMs: result.retryAfterMs,
        nextRetryMs: result.nextRetryMs,
        nowMs: clock.now().getTime(),
      },
      random,
    )
  }

  return {
    async run() {
      for (;;) {
        alarm = new AbortController()
        const delayMs = await round()
        nextPollAt = new Date(clock.now().getTime() + delayMs)
        await waitFor(clock, delayMs, alarm.signal)
        nextPollAt = undefined
      }
    },
    pollNow() {
      return new Promise((resolve) => {
        waiters.push(resolve)
        alarm.abort()
      })
    },
    wake: () => alarm.abort(),
    get lastResult() {
      return lastResult
    },
    get nextPollAt() {
      return nextPollAt
    },
  }
}

/** A bug that shows in one round must not end the agent. */
async function pollSafely({ poll, clock }: RunLoopOptions, log: Logger): Promise<PollResult> {
  try {
    return await poll()
  } catch (error) {
    log.error(
      { error: describeError(error), stack: error instanceof Error ? error.stack : undefined },
      'Round failed',
    )
    return {
      finishedAt: clock.now(),
      problems: [describeError(error)],
      hasManifest: false,
      outcome: 'other',
      retryAfterMs: 0,
      nextRetryMs: undefined,
    }
  }
}
