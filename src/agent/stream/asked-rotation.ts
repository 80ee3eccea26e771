import type { Clock } from '../../platform/clock.ts'
import { describeError } from '../../platform/errors.ts'
import type { Logger } from '../../platform/logger.ts'
import { backoffDelayMs, type Random, waitFor } from '../hub/backoff.ts'

export interface AskedRotationOptions {
  readonly clock: Clock
  readonly random: Random
  readonly log: Logger
  readonly rotate: () => Promise<unknown>
}

/** Renewals that nobody waits for are tried once a minute at most. */
const DELAY_MS_MIN = 60_000

/**
 * Renews once, however often the hub asks while it has not seen the new identity. What fails is tried again until it
 * succeeds, or until another identity is in use anyway: then the request is fulfilled. One after the other, a hub that
 * asks each new identity for the next would have the host write as fast as its disk can.
 */
export function createAskedRotation(
  options: AskedRotationOptions,
): (identityChange: AbortSignal) => void {
  const { clock, random, log, rotate } = options
  let isUnderWay = false
  let lastMs = Number.NEGATIVE_INFINITY
  const renew = async (identityChange: AbortSignal): Promise<void> => {
    const sinceMs = clock.now().getTime() - lastMs
    // A clock that was set back says nothing about how long ago the last one was.
    if (sinceMs >= 0) await waitFor(clock, DELAY_MS_MIN - sinceMs, identityChange)
    for (let failures = 1; !identityChange.aborted; failures += 1) {
      try {
        await rotate()
        lastMs = clock.now().getTime()
        return
      } catch (error) {
        log.warn({ reason: describeError(error) }, 'Rotation that the hub asked for failed')
        const delayMs = Math.max(DELAY_MS_MIN, backoffDelayMs(failures, random))
        await waitFor(clock, delayMs, identityChange)
      }
    }
  }
  return (identityChange) => {
    if (isUnderWay || identityChange.aborted) return
    isUnderWay = true
    log.info('The hub asked for a rotation')
    void renew(identityChange).finally(() => {
      isUnderWay = false
    })
  }
}
