import assert from 'node:assert/strict'
import { beforeEach, describe, test } from 'node:test'
import { systemClock } from './clock.ts'
import { createWakeablePause, type WakeablePause } from './wakeable-pause.ts'

const LONG_MS = 3_600_000
const NEVER = new AbortController().signal
let rest: WakeablePause
let slept: number[]

beforeEach(() => {
  slept = []
  rest = createWakeablePause({
    sleep: async (durationMs, signal) => {
      await systemClock.sleep(durationMs, signal)
      slept.push(durationMs)
    },
  })
})

describe('a pause that may be woken', { timeout: 10_000 }, () => {
  test('ends when it is over', async () => {
    await rest.pause(1, NEVER)
    assert.deepEqual(slept, [1])
  })

  test('ends when woken', async () => {
    const pause = rest.pause(LONG_MS, NEVER)
    rest.wake()
    await pause
    assert.deepEqual(slept, [])
  })

  test('does not begin when it was woken before, once', async () => {
    rest.wake()
    rest.wake()
    await rest.pause(LONG_MS, NEVER)
    await rest.pause(1, NEVER)
    assert.deepEqual(slept, [1])
  })

  test('ends when aborted', async () => {
    const stop = new AbortController()
    const pause = rest.pause(LONG_MS, stop.signal)
    stop.abort()
    await pause
    await rest.pause(LONG_MS, stop.signal)
    assert.deepEqual(slept, [])
  })
})
