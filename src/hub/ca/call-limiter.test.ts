import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { createCallLimiter } from './call-limiter.ts'

const NEVER = new AbortController().signal

describe('call limiter', () => {
  test('lets in as many as may run, keeps the rest waiting in order', async () => {
    const limiter = createCallLimiter({ runningMax: () => 1, waitingMax: 2 })
    const order: string[] = []
    const leaveFirst = await limiter.enter(NEVER)
    const passThrough = async (name: string): Promise<void> => {
      const leave = await limiter.enter(NEVER)
      order.push(name)
      leave?.()
    }
    const [second, third] = [passThrough('second'), passThrough('third')]
    assert.deepEqual(order, [])
    leaveFirst?.()
    await Promise.all([second, third])
    assert.deepEqual(order, ['second', 'third'])
  })

  test('says no at once when the line is full', async () => {
    const limiter = createCallLimiter({ runningMax: () => 1, waitingMax: 1 })
    await limiter.enter(NEVER)
    void limiter.enter(NEVER)
    assert.equal(limiter.enter(NEVER), undefined)
  })

  test('gives the place in the line of one who gave up to the next', async () => {
    const limiter = createCallLimiter({ runningMax: () => 1, waitingMax: 1 })
    const leave = await limiter.enter(NEVER)
    const impatient = new AbortController()
    const waiting = limiter.enter(impatient.signal)
    impatient.abort(new Error('too late'))
    await assert.rejects(waiting ?? Promise.resolve(), /too late/)
    const patient = limiter.enter(NEVER)
    leave?.()
    assert.equal(typeof (await patient), 'function')
  })

  test('counts a place that is given back twice only once', async () => {
    const limiter = createCallLimiter({ runningMax: () => 1, waitingMax: 0 })
    const leave = await limiter.enter(NEVER)
    leave?.()
    leave?.()
    await limiter.enter(NEVER)
    assert.equal(limiter.enter(NEVER), undefined)
  })

  test('[HUB-11] follows a share that shrinks and grows', async () => {
    let share = 3
    const limiter = createCallLimiter({ runningMax: () => share, waitingMax: 9 })
    let running = 0
    const leaves: (() => void)[] = []
    const enter = async (): Promise<void> => {
      const leave = await limiter.enter(NEVER)
      running += 1
      leaves.push(() => {
        running -= 1
        leave?.()
      })
    }
    const leaveOne = async (): Promise<void> => {
      leaves.shift()?.()
      await new Promise(setImmediate)
    }
    const entering = Array.from({ length: 9 }, enter)
    await new Promise(setImmediate)
    assert.equal(running, 3)
    share = 1
    const seen: number[] = []
    for (let times = 0; times < 3; times += 1) {
      await leaveOne()
      seen.push(running)
    }
    assert.deepEqual(seen, [2, 1, 1], 'what is under way ends, and then there is one at a time')
    share = 3
    await leaveOne()
    assert.equal(running, 3)
    while (leaves.length > 0) await leaveOne()
    await Promise.all(entering)
  })

  test('does not let in a caller who has already given up', async () => {
    const limiter = createCallLimiter({ runningMax: () => 1, waitingMax: 1 })
    const signal = AbortSignal.abort(new Error('gone'))
    await assert.rejects(limiter.enter(signal) ?? Promise.resolve(), /gone/)
  })
})
