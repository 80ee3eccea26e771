import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { Operation } from './operation.ts'
import { measureOutage } from './outage.ts'

function event(hostname: string, endMs: number, more: Partial<Operation> = {}): Operation {
  const startMs = endMs - 5
  return {
    kind: 'event',
    key: '',
    hostname,
    hub: 0,
    startMs,
    endMs,
    outcome: 'acknowledged',
    ...more,
  }
}

test('an outage is the longest time without an answer that acknowledges something', () => {
  const operations = [
    ...[0, 100, 900, 1000, 1100].map((endMs) => event('a', endMs)),
    ...[0, 150, 700, 1200].map((endMs) => event('b', endMs)),
    event('a', 300, { outcome: 'unknown' }),
    event('gone', 50),
    ...[120, 400, 1050].map((endMs) => event('a', endMs, { kind: 'poll' })),
  ]
  assert.deepEqual(measureOutage(operations, { fromMs: 100, toMs: 1090 }), {
    writesMs: 550,
    pollsMs: 650,
    hostMs: 800,
  })
})

test('nobody who was served is an outage of the whole time', () => {
  const nothing = measureOutage([], { fromMs: 100, toMs: 1000 })
  assert.deepEqual(nothing, { writesMs: 900, pollsMs: 900, hostMs: 0 })
})
