import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { Clock } from '../../platform/clock.ts'
import { createPacedWake } from './paced-wake.ts'

/** Sleepers wake when the time has come that a test turns it to. */
class TurnedClock implements Clock {
  nowMs = 1_000_000
  #sleepers: { readonly atMs: number; readonly wake: () => void }[] = []
  now(): Date {
    return new Date(this.nowMs)
  }
  sleep(durationMs: number): Promise<void> {
    return new Promise((wake) => this.#sleepers.push({ atMs: this.nowMs + durationMs, wake }))
  }
  async pass(ms: number): Promise<void> {
    this.nowMs += ms
    for (const { atMs, wake } of this.#sleepers) if (atMs <= this.nowMs) wake()
    this.#sleepers = this.#sleepers.filter(({ atMs }) => atMs > this.nowMs)
    await Promise.resolve()
  }
}

test('[PSH-15] the first message wakes at once, a flood of them once a second, and the last is not lost', async () => {
  const clock = new TurnedClock()
  const wokenAt: number[] = []
  const startMs = clock.nowMs
  const wake = createPacedWake(clock, () => wokenAt.push(clock.nowMs - startMs))
  for (let time = 0; time < 2500; time += 10) {
    wake()
    await clock.pass(10)
  }
  await clock.pass(5000)
  assert.deepEqual(wokenAt, [0, 1000, 2000, 7500])
})

test('[PSH-15] a clock that was set back does not keep the loop asleep', () => {
  const clock = new TurnedClock()
  let count = 0
  const wake = createPacedWake(clock, () => (count += 1))
  wake()
  clock.nowMs -= 3_600_000
  wake()
  assert.equal(count, 2)
})
