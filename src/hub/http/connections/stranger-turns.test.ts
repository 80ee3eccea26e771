import assert from 'node:assert/strict'
import { setImmediate as nextTurn } from 'node:timers/promises'
import { beforeEach, describe, test } from 'node:test'
import * as fc from 'fast-check'
import { propertyRuns } from '../../../../test/support/property.ts'
import { createStrangerTurns, type StrangerTurns, type TurnAccount } from './stranger-turns.ts'

/** An event loop whose time passes only by what is done in it, and by waiting for what comes next. */
class Loop {
  nowMs = 0
  #calls: (() => void)[] = []
  #timers: { readonly atMs: number; readonly call: () => void }[] = []

  readonly now = (): number => this.nowMs
  readonly measure = (): (() => number) => {
    const startMs = this.nowMs
    return () => this.nowMs - startMs
  }
  readonly inNextTurn = (...calls: (() => void)[]): void => void this.#calls.push(...calls)
  readonly after = (delayMs: number, call: () => void): (() => void) => {
    const timer = { atMs: this.nowMs + delayMs, call }
    this.#timers.push(timer)
    return () => {
      this.#timers = this.#timers.filter((other) => other !== timer)
    }
  }

  /** Until nothing is to be done any more, or that time has come. */
  async run(untilMs = Number.POSITIVE_INFINITY): Promise<void> {
    while (this.nowMs < untilMs) {
      const calls = this.#calls
      this.#calls = []
      for (const call of calls) {
        call()
        // What the promise of a turn brings about.
        for (let ticks = 0; ticks < 5; ticks += 1) await Promise.resolve()
      }
      const [next] = this.#timers.toSorted((one, other) => one.atMs - other.atMs)
      if (calls.length > 0 || next === undefined) {
        if (calls.length === 0) return
        continue
      }
      this.nowMs = Math.max(this.nowMs, next.atMs)
      this.#timers = this.#timers.filter((other) => other !== next)
      next.call()
    }
  }
}

let loop: Loop
let turns: StrangerTurns
let begun: { readonly who: string; readonly atMs: number; readonly costMs: number }[]
const start = (limits: { waitingMax?: number; waitingPerCallerMax?: number } = {}): void => {
  loop = new Loop()
  const { now, measure, inNextTurn, after } = loop
  turns = createStrangerTurns({ now, measure, inNextTurn, after, ...limits })
  begun = []
}
/** Waits for a turn, and takes so long. */
const work = async (who: string, costMs: number, account?: TurnAccount): Promise<string> => {
  const outcome = await turns.take(who, account)
  if (outcome === 'begun') {
    begun.push({ who, atMs: loop.nowMs, costMs })
    loop.nowMs += costMs
  }
  return outcome
}
/** One after the other, without end. */
const flood = async (who: string, costMs: number): Promise<void> => {
  while ((await work(who, costMs)) === 'begun');
}
const timesOf = (who: string): number[] =>
  begun.filter((one) => one.who === who).map(({ atMs }) => atMs)

beforeEach(() => start())

describe('[LIM-24] [LIM-25] the turns of strangers', () => {
  test('are one in a turn of the event loop, in their order', async () => {
    const real = createStrangerTurns()
    const through: number[] = []
    const arrive = (number: number): void =>
      void real.take(`192.0.2.${number}`).then(() => through.push(number))
    const seen: number[][] = []
    arrive(1)
    arrive(2)
    for (const late of [3, undefined, undefined, undefined]) {
      await nextTurn()
      seen.push([...through])
      if (late !== undefined) arrive(late)
    }
    assert.deepEqual(seen, [[1], [1, 2], [1, 2, 3], [1, 2, 3]])
  })

  test('of who is new come before those of who has cost much', async () => {
    for (let count = 0; count < 100; count += 1) void work('flood', 1)
    await loop.run(10)
    void work('new', 1)
    const cameAtMs = loop.nowMs
    await loop.run()
    const [newAtMs = Infinity] = timesOf('new')
    assert.ok(newAtMs - cameAtMs <= 1, `${newAtMs} after ${cameAtMs}`)
    assert.equal(begun.length, 101)
  })

  test('of who succeeded come before those of who guessed, also when both cost as much', async () => {
    const account = { costMs: 0 }
    for (let count = 0; count < 10; count += 1) {
      void work('guesser', 5)
      void work('fleet', 5, account)
      await loop.run()
    }
    const cameAtMs = loop.nowMs
    for (let count = 0; count < 10; count += 1) void work('guesser', 5)
    void work('fleet', 5, account)
    // One of them succeeds while the next one waits.
    turns.forgive('fleet', account)
    await loop.run()
    assert.deepEqual(begun.slice(20).at(0), { who: 'fleet', atMs: cameAtMs, costMs: 5 })
    assert.equal(begun.length, 31)
  })

  test('are forgiven once: what an account has cost since is owed', async () => {
    const account = { costMs: 0 }
    void work('fleet', 5, account)
    await loop.run()
    assert.equal(account.costMs, 5)
    turns.forgive('fleet', account)
    assert.equal(account.costMs, 0)
  })

  test('go on when nobody else waits, whatever was owed', async () => {
    void flood('fleet', 0.5)
    await loop.run(1000)
    assert.ok(begun.length > 1500, `${begun.length} turns of half a millisecond in a second`)
  })

  test('of all in debt together are the rarer the more they cost', async () => {
    for (const who of ['one', 'another', 'third']) void flood(who, 40)
    await loop.run(60_000)
    const busyMs = begun.length * 40
    assert.ok(busyMs < 0.08 * 60_000, `${busyMs} ms of a minute`)
    for (const who of ['one', 'another', 'third']) assert.ok(timesOf(who).length > 10, who)
  })

  test('are as rare when it is charged afterwards', async () => {
    const shakeHands = async (): Promise<void> => {
      for (;;) {
        await work('hands', 0)
        loop.nowMs += 40
        turns.charge('hands', 40)
      }
    }
    void shakeHands()
    await loop.run(60_000)
    const busyMs = begun.length * 40
    assert.ok(busyMs < 0.08 * 60_000, `${busyMs} ms of a minute`)
  })

  test('have whoever comes at any instant wait for a millisecond on average, and what the shares are, whatever floods cost', async () => {
    const cost = fc.double({ min: 1, max: 200, noNaN: true })
    await fc.assert(
      fc.asyncProperty(fc.array(cost, { minLength: 1, maxLength: 5 }), async (costs) => {
        start()
        for (const [at, costMs] of costs.entries()) void flood(`192.0.2.${at}`, costMs)
        await loop.run(20_000)
        // Half of what is going on, for as much of the time as it takes; each comes once before it owes anything.
        const waitedMs = begun
          .slice(costs.length)
          .reduce((sum, { costMs }) => sum + costMs ** 2 / 2, 0)
        const sharesMs = costs.reduce((sum, costMs) => sum + (0.02 * costMs) / 2, 0)
        assert.ok(waitedMs / loop.nowMs < 1 + sharesMs, `${waitedMs / loop.nowMs} ms`)
      }),
      propertyRuns(15),
    )
  })

  test('come for everybody: debts end', async () => {
    void flood('192.0.2.1', 20)
    await loop.run(5000)
    for (let address = 2; address < 200; address += 1) void flood(`192.0.2.${address}`, 1)
    await loop.run(16_000)
    assert.ok((timesOf('192.0.2.1').at(-1) ?? 0) > 5000)
  })
})

describe('[LIM-26] the queue of strangers has an end', () => {
  test('for an address', async () => {
    start({ waitingPerCallerMax: 2 })
    const outcomes = Promise.all(['a', 'a', 'a', 'b'].map((who) => work(who, 1)))
    await loop.run()
    assert.deepEqual(await outcomes, ['begun', 'begun', 'full', 'begun'])
  })

  test('in all, where the last of who has most gives up its place', async () => {
    start({ waitingMax: 3 })
    const outcomes = Promise.all(['a', 'a', 'a', 'b'].map((who) => work(who, 1)))
    await loop.run()
    assert.deepEqual(await outcomes, ['begun', 'begun', 'full', 'begun'])
  })

  test('by default for 1,024 of one address and 4,096 in all', async () => {
    const outcomes = Promise.all(
      Array.from({ length: 6000 }, (_, at) => work(at < 1100 ? 'most' : `other ${at}`, 0)),
    )
    await loop.run()
    const most = (await outcomes).slice(0, 1100)
    const begunOf = (all: readonly string[]) => all.filter((outcome) => outcome === 'begun').length
    assert.equal(begunOf(await outcomes), 4096)
    assert.ok(begunOf(most) <= 1024)
  })
})
