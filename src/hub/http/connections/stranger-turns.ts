import { createCallerDebts } from './caller-debts.ts'
import { type Caller, callerOf } from './caller-key.ts'
import { measureCost } from './measure-cost.ts'
import { StrangerQueue, type StrangerQueueLimits } from './stranger-queue.ts'

/**
 * The turns of callers that the hub does not know yet, by what they have cost of late: LIM-24, LIM-25, LIM-26 of
 * docs/protocol.md.
 *
 * The hub begins one in a turn of the event loop, so that an agent waits for one of them at most. StrangerQueue says whose
 * turn it is: callers that have cost more than their share wait for callers that have not. No share is hard: a caller
 * may take what no other caller wants, since a fleet that enrols from one address, or through a proxy that is not believed, looks like a flood, and would
 * take hours. But work in the loop cannot be interrupted. An agent that comes at a random instant waits for half of
 * whatever is going on, on average, and would find a stranger there nearly always if one followed on the other. So callers
 * in debt rest after each of their turns, and longer the more it cost, by its square: then that average is below a millisecond
 * whatever their work costs, as is worked out in docs/decisions/0009-strangers-pay-in-time.md.
 */
export interface StrangerTurns {
  /**
   * Waits for a turn; `full` when there is no place to wait. What is done before anything else is waited for is charged to the
   * address.
   */
  take(address: string, account?: TurnAccount): Promise<TurnOutcome>
  /** Takes back what the turns of this account have cost: an address does not owe for what succeeded. */
  forgive(address: string, account: TurnAccount): void
  /** What something of this address cost otherwise. */
  charge(address: string, costMs: number): void
}

/** What the turns of one request have cost so far. */
export interface TurnAccount {
  costMs: number
}

export type TurnOutcome = 'begun' | 'full'

export interface StrangerTurnsOptions extends Partial<StrangerQueueLimits> {
  /** Milliseconds from wherever. */
  readonly now?: () => number
  /** Answers what has been spent since it was called. */
  readonly measure?: () => () => number
  /** Calls each in the next turn of the event loop, one after the other, and what they bring about in between. */
  readonly inNextTurn?: (...calls: (() => void)[]) => void
  readonly after?: (delayMs: number, call: () => void) => () => void
}

const WAITING_MAX = 4096
const WAITING_PER_CALLER_MAX = 1024
/** An agent waits on average for half of such a rest at most. */
const REST_MS_SCALE = 2
const REST_MS_MAX = 10_000
/** What timers can tell apart: shorter rests are taken together. */
const REST_MS_MIN = 1

export function createStrangerTurns(options: StrangerTurnsOptions = {}): StrangerTurns {
  const { now = () => performance.now(), inNextTurn = runInNextTurn, after = runAfter } = options
  const { measure = measureCost } = options
  const { waitingMax = WAITING_MAX, waitingPerCallerMax = WAITING_PER_CALLER_MAX } = options
  const debts = createCallerDebts()
  const queue = new StrangerQueue<Waiting>(debts, { waitingMax, waitingPerCallerMax })
  let restUntilMs = 0
  let isTurnAhead = false
  let giveUpRest: (() => void) | undefined
  let begun: Begun | undefined

  const charge = (caller: Caller, costMs: number): void => {
    const nowMs = now()
    debts.charge(caller, costMs, nowMs)
    // What was due before goes on after it.
    const restFromMs = Math.max(restUntilMs, nowMs - costMs) + costMs
    restUntilMs = Math.min(restFromMs + costMs ** 2 / REST_MS_SCALE, nowMs + REST_MS_MAX)
  }
  const begin = (): void => {
    const first = queue.shift()
    begun = first && { caller: first.caller, account: first.item.account, costMs: measure() }
    first?.item.resolve('begun')
  }
  const end = (): void => {
    if (begun !== undefined) {
      const costMs = begun.costMs()
      begun.account.costMs += costMs
      charge(begun.caller, costMs)
    }
    begun = undefined
    isTurnAhead = false
    proceed()
  }
  const proceed = (): void => {
    const dueMs = queue.findDueMs()
    if (isTurnAhead || dueMs === undefined) return
    giveUpRest?.()
    const restMs = Math.min(dueMs, restUntilMs) - now()
    giveUpRest = restMs >= REST_MS_MIN ? after(Math.ceil(restMs), proceed) : undefined
    if (giveUpRest !== undefined) return
    isTurnAhead = true
    inNextTurn(begin, end)
  }
  return {
    take: (address, account = { costMs: 0 }) =>
      new Promise((resolve) => {
        queue.push(address, { resolve, account }, now())?.resolve('full')
        proceed()
      }),
    forgive: (address, account) => {
      const caller = callerOf(address)
      debts.forgive(caller, account.costMs, now())
      account.costMs = 0
      queue.rankAgain(caller)
      proceed()
    },
    charge: (address, costMs) => charge(callerOf(address), costMs),
  }
}

/** All ports have one. */
export const strangerTurns: StrangerTurns = createStrangerTurns()

interface Waiting {
  readonly resolve: (outcome: TurnOutcome) => void
  readonly account: TurnAccount
}

interface Begun {
  readonly caller: Caller
  readonly account: TurnAccount
  readonly costMs: () => number
}

/** Promises and ticks run between two immediates. */
function runInNextTurn(...calls: (() => void)[]): void {
  for (const call of calls) setImmediate(call)
}

function runAfter(delayMs: number, call: () => void): () => void {
  // tidy: what a turn costs is real time, whatever a Clock says.
  const timer = setTimeout(call, delayMs).unref()
  return () => clearTimeout(timer)
}
