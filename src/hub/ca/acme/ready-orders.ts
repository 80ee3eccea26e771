// Orders by their names. The proof of control takes seconds or minutes, and nothing is signed before it: so it goes on when the one who
// asked has run out of time, and the one who asks next for these names finds it done. docs/protocol.md CAX-29, CAX-31, CAX-33.

import type { Clock } from '../../../platform/clock.ts'
import { describeError } from '../../../platform/errors.ts'
import type { Logger } from '../../../platform/logger.ts'
import { createTokenBuckets } from '../../../platform/token-bucket.ts'
import { unlessAborted } from '../../../platform/unless-aborted.ts'
import { createCallLimiter } from '../call-limiter.ts'
import { CaError, type CaFailureReason } from '../certificate-authority.ts'
import { type AcmeOrder, NamesNotProved } from './acme-order.ts'
import { keyOf } from './names-key.ts'

export interface ReadyOrders {
  /**
   * An order for these names that is ready, and nobody else's. Rejects with the signal's reason when that takes too long; the
   * proof then goes on.
   */
  take(names: readonly string[], signal: AbortSignal): Promise<TakenOrder>
  /** What failed for this reason may succeed now, and is asked again at once. */
  forgive(reason: CaFailureReason): void
  /** For how many sets of names there are orders, ready or under way. */
  size(): number
}

export interface TakenOrder {
  readonly order: AcmeOrder
  /** There is a certificate. */
  done(): void
  /** Nothing was wrong with it but the CSR: it is good for another one. */
  giveBack(): void
  /** There is none, and the order is used up: it is not ordered again at once. */
  refuse(error: CaError): void
}

export interface ReadyOrdersOptions {
  /** `onOrdered` hears that the CA has taken the order, which it counts. */
  readonly prove: (
    names: readonly string[],
    signal: AbortSignal,
    onOrdered: () => void,
  ) => Promise<AcmeOrder>
  readonly clock: Clock
  readonly logger: Logger
  /** Ends all that is under way. */
  readonly stopping: AbortSignal
}

interface Entry {
  readonly order: Promise<AcmeOrder>
  isTaken: boolean
  /** Undefined while it is being made. */
  expires?: Date
}

interface Failure {
  readonly error: CaError
  readonly times: number
  readonly untilMs: number
}

const RUNNING_MAX = 8
const WAITING_MAX = 64
/** Of the same names at a time. */
const UNDER_WAY_MAX = 2
/** Of the same names: at once, and then one an hour. */
const ORDERS_BURST = 5
const ORDERS_PER_SECOND = 1 / 3600
const ORDER_MS_MAX = 10 * 60_000
const PAUSE_MS = 60_000
const PAUSE_MS_MAX = 3_600_000
const FAILURES_MAX = 1000
/** A ready order is not used in the last moment. */
const LEFT_MS_MIN = 60_000

export function createReadyOrders(options: ReadyOrdersOptions): ReadyOrders {
  const { prove, clock, logger, stopping } = options
  const limiter = createCallLimiter({ runningMax: () => RUNNING_MAX, waitingMax: WAITING_MAX })
  const entries = new Map<string, Set<Entry>>()
  const failures = new Map<string, Failure>()
  const ordered = createTokenBuckets({
    perSecond: ORDERS_PER_SECOND,
    burst: ORDERS_BURST,
    now: () => clock.now(),
  })

  const noteFailure = (key: string, error: CaError): void => {
    const times = (failures.get(key)?.times ?? 0) + 1
    const ownMs = Math.min(PAUSE_MS_MAX, PAUSE_MS * 2 ** Math.min(times - 1, 10))
    const pauseMs = Math.max(ownMs, error instanceof NamesNotProved ? error.pauseMs : 0)
    const untilMs = clock.now().getTime() + pauseMs
    failures.delete(key)
    const [oldest] = failures.keys()
    if (failures.size >= FAILURES_MAX && oldest !== undefined) failures.delete(oldest)
    failures.set(key, { error, times, untilMs })
    const again = new Date(untilMs).toISOString()
    logger.warn(
      { names: key.split(' '), reason: error.message, again_at: again },
      'Names not proved',
    )
  }

  const drop = (key: string, entry: Entry): void => {
    const ofKey = entries.get(key)
    ofKey?.delete(entry)
    if (ofKey?.size === 0) entries.delete(key)
  }

  /** Notes what became of it. Never rejects. */
  const settle = async (key: string, entry: Entry): Promise<void> => {
    try {
      entry.expires = (await entry.order).expires
    } catch (error) {
      drop(key, entry)
      if (stopping.aborted) return
      // An outage is no matter of names.
      if (error instanceof NamesNotProved) noteFailure(key, error)
      else logger.info({ reason: describeError(error) }, 'Order not made')
    }
  }

  const begin = (key: string, names: readonly string[]): Entry => {
    sweep()
    const waitMs = ordered.waitMs(key)
    if (waitMs > 0) {
      const next = new Date(clock.now().getTime() + waitMs).toISOString()
      const message = `too many orders were made for these names: the next is made after ${next}`
      throw new CaError('overloaded', message)
    }
    const place = limiter.enter(stopping)
    if (place === undefined) throw new CaError('overloaded', 'too many names wait to be proved')
    const proveInTurn = async (): Promise<AcmeOrder> => {
      const leave = await place
      // From its turn on: that others hang is no fault of these names.
      const signal = AbortSignal.any([stopping, AbortSignal.timeout(ORDER_MS_MAX)])
      try {
        return await prove(names, signal, () => void ordered.take(key))
      } finally {
        leave()
      }
    }
    const entry: Entry = { order: proveInTurn(), isTaken: false }
    void settle(key, entry)
    const ofKey = entries.get(key) ?? new Set()
    entries.set(key, ofKey.add(entry))
    return entry
  }

  const isOver = ({ isTaken, expires }: Entry): boolean =>
    !isTaken && expires !== undefined && expires.getTime() <= clock.now().getTime() + LEFT_MS_MIN

  const sweep = (): void => {
    for (const [key, ofKey] of entries) {
      for (const entry of ofKey) if (isOver(entry)) drop(key, entry)
    }
  }

  const requireNotHeld = (key: string): void => {
    const failed = failures.get(key)
    if (failed === undefined || clock.now().getTime() >= failed.untilMs) return
    const { reason, message, variable } = failed.error
    const again = new Date(failed.untilMs).toISOString()
    throw new CaError(reason, `${message} (asked again after ${again})`, { variable })
  }

  /** One for this caller alone, once it is its turn. */
  const takeEntry = async (
    key: string,
    names: readonly string[],
    signal: AbortSignal,
  ): Promise<Entry> => {
    for (;;) {
      requireNotHeld(key)
      const ofKey = [...(entries.get(key) ?? [])]
      const free = ofKey.find((entry) => !entry.isTaken && !isOver(entry))
      const underWay = ofKey.filter(({ expires }) => expires === undefined)
      if (free !== undefined || underWay.length < UNDER_WAY_MAX) {
        const entry = free ?? begin(key, names)
        entry.isTaken = true
        return entry
      }
      await unlessAborted(Promise.race(underWay.map(({ order }) => order)), signal)
    }
  }

  return {
    size: () => entries.size,
    forgive: (reason) => {
      for (const [key, { error }] of failures) if (error.reason === reason) failures.delete(key)
    },
    take: async (names, signal) => {
      const key = keyOf(names)
      const entry = await takeEntry(key, names, signal)
      try {
        const order = await unlessAborted(entry.order, signal)
        drop(key, entry)
        return {
          order,
          // Not when the names are proved: the CA may refuse to sign each time.
          done: () => void failures.delete(key),
          giveBack: () => {
            entry.isTaken = false
            entries.set(key, (entries.get(key) ?? new Set()).add(entry))
          },
          refuse: (error) => noteFailure(key, error),
        }
      } catch (error) {
        entry.isTaken = false
        throw error
      }
    },
  }
}
