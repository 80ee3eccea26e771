import assert from 'node:assert/strict'
import { test } from 'node:test'
import { createSharedAnswers } from './shared-answers.ts'

function at(startMs: number) {
  let nowMs = startMs
  return {
    clock: { now: () => new Date(nowMs), sleep: () => Promise.resolve() },
    pass: (ms: number) => void (nowMs += ms),
  }
}

test('[OVW-2] a thousand who ask within a second have one answer, found once', async () => {
  const { clock, pass } = at(1_000_000)
  const { ask } = createSharedAnswers(clock)
  let asked = 0
  const find = async () => (asked += 1)
  const atOnce = await Promise.all(Array.from({ length: 500 }, () => ask('fleet', find)))
  pass(500)
  for (let more = 0; more < 500; more += 1) atOnce.push(await ask('fleet', find))
  assert.equal(asked, 1)
  assert.ok(atOnce.every(({ answer, at: when }) => answer === 1 && when.getTime() === 1_000_000))
  pass(500)
  assert.equal((await ask('fleet', find)).answer, 2)
  assert.equal((await ask('another', find)).answer, 3)
})

test('[OVW-2] one that takes long is not asked for again meanwhile, and is kept ten times as long', async () => {
  const { clock, pass } = at(1_000_000)
  const { ask } = createSharedAnswers(clock)
  let asked = 0
  const slow = async () => {
    asked += 1
    const endMs = performance.now() + 200
    while (performance.now() < endMs) await new Promise(setImmediate)
    return asked
  }
  const first = ask('fleet', slow)
  pass(20_000)
  const second = ask('fleet', slow)
  assert.deepEqual([(await first).answer, (await second).answer, asked], [1, 1, 1])
  // It was asked for 20 seconds ago.
  assert.equal((await ask('fleet', slow)).answer, 2)
  pass(1900)
  assert.equal((await ask('fleet', slow)).answer, 2)
})

test('[OVW-2] a failure is everybody’s for a second; a clock that is set back asks again', async () => {
  const { clock, pass } = at(1_000_000)
  const { ask } = createSharedAnswers(clock)
  let asked = 0
  const fail = () => {
    asked += 1
    return Promise.reject(new Error('damaged'))
  }
  for (let more = 0; more < 5; more += 1) await assert.rejects(ask('fleet', fail), /damaged/)
  assert.equal(asked, 1)
  pass(-1)
  await assert.rejects(ask('fleet', fail), /damaged/)
  assert.equal(asked, 2)
})

test('[OVW-2] a failure that took long is not kept for longer than a second', async () => {
  const { clock, pass } = at(1_000_000)
  const { ask } = createSharedAnswers(clock)
  const fail = async () => {
    const endMs = performance.now() + 200
    while (performance.now() < endMs) await new Promise(setImmediate)
    throw new Error('damaged')
  }
  await assert.rejects(ask('fleet', fail), /damaged/)
  pass(1000)
  assert.equal((await ask('fleet', async () => 'well')).answer, 'well')
})

test('[OVW-2] one that never ends is waited for half a minute, and then another begins', async () => {
  const { clock, pass } = at(1_000_000)
  const { ask } = createSharedAnswers(clock)
  let asked = 0
  const find = () => {
    asked += 1
    return asked === 1 ? new Promise<string>(() => undefined) : Promise.resolve('well')
  }
  void ask('fleet', find)
  pass(29_999)
  void ask('fleet', find)
  assert.equal(asked, 1)
  pass(1)
  assert.equal((await ask('fleet', find)).answer, 'well')
})
