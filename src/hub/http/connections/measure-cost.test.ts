import assert from 'node:assert/strict'
import { execFileSync } from 'node:child_process'
import { test } from 'node:test'
import { measureCost } from './measure-cost.ts'

test('[LIM-25] what the processor does for others costs nobody anything', () => {
  const cost = measureCost()
  execFileSync('sleep', ['0.5'])
  assert.ok(cost() < 100, `${cost()} ms`)
})

test('[LIM-25] what it does for a caller costs as much as it takes', () => {
  const cost = measureCost()
  const before = process.threadCpuUsage()
  let usedMs = 0
  while (usedMs < 100) {
    const { user, system } = process.threadCpuUsage(before)
    usedMs = (user + system) / 1000
  }
  assert.ok(cost() > 90 && cost() < 200, `${cost()} ms`)
})

test('[LIM-25] what takes the processor from a caller costs it nothing, not even a tick', () => {
  const cost = measureCost()
  Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, 50)
  assert.ok(cost() < 25, `${cost()} ms`)
})
