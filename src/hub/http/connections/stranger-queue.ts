import { invariant } from '../../../platform/errors.ts'
import { MinHeap } from '../../../platform/min-heap.ts'
import { type Caller, callerOf } from './caller-key.ts'
import type { CallerDebts } from './caller-debts.ts'
import { KeyCounts } from './key-counts.ts'

export interface StrangerQueueLimits {
  readonly waitingMax: number
  readonly waitingPerCallerMax: number
}

interface Waiter<T> {
  readonly item: T
  readonly sinceMs: number
}

interface WaitingCaller<T> {
  readonly caller: Caller
  readonly waiters: Waiter<T>[]
}

/**
 * The callers that wait, in the order of when they came or will have paid what they owe, whichever is later. So a caller
 * that owes nothing goes before all callers in debt, and among these the caller that is out of debt first; and as debts
 * end, no caller waits for ever.
 */
export class StrangerQueue<T> {
  readonly #debts: CallerDebts
  readonly #limits: StrangerQueueLimits
  readonly #callers = new Map<string, WaitingCaller<T>>()
  /** One entry for each caller. Ranks only rise, but for `rankAgain`: the queue finds an outdated entry when it is the first. */
  readonly #order = new MinHeap<WaitingCaller<T>>()
  readonly #ofSite = new KeyCounts()
  #size = 0

  constructor(debts: CallerDebts, limits: StrangerQueueLimits) {
    this.#debts = debts
    this.#limits = limits
  }

  /**
   * Answers the item that has no place: this one when its caller has too many waiting, or when the queue is full and no
   * caller has more; else the last item of the caller that has the most.
   */
  push(address: string, item: T, nowMs: number): T | undefined {
    const caller = callerOf(address)
    const own = this.#callers.get(caller.key)?.waiters.length ?? 0
    if (own >= this.#limits.waitingPerCallerMax) return item
    const dropped = this.#size >= this.#limits.waitingMax ? this.#dropForOneOf(caller) : []
    if (dropped === undefined) return item
    this.#add(caller, { item, sinceMs: nowMs })
    return dropped[0]
  }

  /** When the first one's turn is by that order: later than now when all who wait are in debt. */
  findDueMs(): number | undefined {
    for (;;) {
      const first = this.#order.peek()
      if (first === undefined) return undefined
      const rank = this.#rankOf(first.item)
      if (rank <= first.rank) return rank
      this.#order.pop()
      this.#order.push(rank, first.item)
    }
  }

  /** The first by that order. */
  shift(): { readonly caller: Caller; readonly item: T } | undefined {
    this.findDueMs()
    const first = this.#order.pop()
    if (first === undefined) return undefined
    const waiter = first.waiters.shift()
    invariant(waiter, 'a caller in the order waits')
    this.#forget(first)
    if (first.waiters.length > 0) this.#order.push(this.#rankOf(first), first)
    return { caller: first.caller, item: waiter.item }
  }

  /** After a debt was taken back, which is all that makes a rank fall. */
  rankAgain({ key }: Caller): void {
    const waiting = this.#callers.get(key)
    if (waiting === undefined) return
    this.#order.remove(waiting)
    this.#order.push(this.#rankOf(waiting), waiting)
  }

  #rankOf({ caller, waiters }: WaitingCaller<T>): number {
    return Math.max(this.#debts.freeAtMs(caller), waiters[0]?.sinceMs ?? 0)
  }

  #add(caller: Caller, waiter: Waiter<T>): void {
    const known = this.#callers.get(caller.key)
    if (known === undefined) {
      const waiting = { caller, waiters: [waiter] }
      this.#callers.set(caller.key, waiting)
      this.#order.push(this.#rankOf(waiting), waiting)
    } else known.waiters.push(waiter)
    this.#ofSite.add(siteOf(caller))
    this.#size += 1
  }

  /** After one of its waiters is gone. */
  #forget({ caller, waiters }: WaitingCaller<T>): void {
    if (waiters.length === 0) this.#callers.delete(caller.key)
    this.#ofSite.remove(siteOf(caller))
    this.#size -= 1
  }

  /** Undefined when no site has more waiting than the site of the caller would have. */
  #dropForOneOf(caller: Caller): [T] | undefined {
    const site = this.#ofSite.findMost()
    if (site === undefined || this.#ofSite.of(site) <= this.#ofSite.of(siteOf(caller)) + 1) {
      return undefined
    }
    let most: WaitingCaller<T> | undefined
    for (const waiting of this.#callers.values()) {
      const isMore = most === undefined || waiting.waiters.length > most.waiters.length
      if (isMore && siteOf(waiting.caller) === site) most = waiting
    }
    const waiter = most?.waiters.pop()
    invariant(most && waiter, 'a counted caller waits')
    if (most.waiters.length === 0) this.#order.remove(most)
    this.#forget(most)
    return [waiter.item]
  }
}

function siteOf({ key, siteKey }: Caller): string {
  return siteKey ?? key
}
