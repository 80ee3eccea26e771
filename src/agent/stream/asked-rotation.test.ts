import assert from 'node:assert/strict'
import { test } from 'node:test'
import { setImmediate as nextTurn } from 'node:timers/promises'
import { createLogging } from '../../platform/logger.ts'
import { createAskedRotation } from './asked-rotation.ts'

const LOG = createLogging({ filter: { levelOf: () => 'off' }, format: 'json' }).forModule('test')

function start(rotate: () => Promise<unknown>) {
  const waits: number[] = []
  let nowMs = 0
  const clock = {
    now: () => new Date(nowMs),
    sleep: async (durationMs: number) => {
      waits.push(durationMs)
      nowMs += durationMs
    },
  }
  const ask = createAskedRotation({ clock, random: () => 0.5, log: LOG, rotate })
  return { ask, waits }
}

async function settle(): Promise<void> {
  for (let turn = 0; turn < 20; turn += 1) await nextTurn()
}

test('[PSH-16] an identity is renewed once, however often the hub asks meanwhile', async () => {
  let rotations = 0
  let finish: (() => void) | undefined
  const { ask, waits } = start(() => {
    rotations += 1
    return new Promise<void>((resolve) => (finish = resolve))
  })
  const { signal } = new AbortController()
  for (let time = 0; time < 10; time += 1) ask(signal)
  await settle()
  assert.equal(rotations, 1)
  finish?.()
  await settle()
  assert.deepEqual(waits, [])
  ask(signal)
  await settle()
  assert.equal(rotations, 2)
  assert.deepEqual(waits, [60_000])
})

test('[PSH-16] a hub that asks each new identity for the next gets one a minute', async () => {
  let rotations = 0
  const { ask, waits } = start(async () => {
    rotations += 1
    // The stream of the new identity says so at once.
    if (rotations < 10) setImmediate(() => ask(new AbortController().signal))
  })
  ask(new AbortController().signal)
  for (let turn = 0; turn < 20; turn += 1) await settle()
  assert.equal(rotations, 10)
  assert.deepEqual(
    waits,
    Array.from({ length: 9 }, () => 60_000),
  )
})

test('[PSH-16] what fails is tried again, once a minute at most, until it succeeds', async () => {
  let tries = 0
  const { ask, waits } = start(async () => {
    tries += 1
    if (tries < 3) throw new Error('the CA is down')
  })
  ask(new AbortController().signal)
  await settle()
  assert.equal(tries, 3)
  assert.ok(waits.length >= 2 && waits.every((ms) => ms >= 60_000), String(waits))
})

test('[PSH-16] an identity that is not in use any more is not renewed, and its tries end', async () => {
  const change = new AbortController()
  let tries = 0
  const { ask } = start(async () => {
    tries += 1
    if (tries === 2) change.abort()
    throw new Error('the CA is down')
  })
  ask(change.signal)
  await settle()
  assert.equal(tries, 2)
  ask(change.signal)
  await settle()
  assert.equal(tries, 2)
})
