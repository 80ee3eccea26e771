import assert from 'node:assert/strict'
import { test } from 'node:test'
import { planFleet } from '../../fleet/fleet-plan.ts'

const FILES_MAX = 20_000

test('a fleet that fits has a kept connection and a stream for each agent', () => {
  const { running, streams, isFilled } = planFleet(1000, FILES_MAX, 30, undefined)
  assert.deepEqual([running, streams, isFilled], [1000, 1000, false])
})

test('where open files end, some agents hold no stream', () => {
  const { running, streams, isFilled } = planFleet(10_000, FILES_MAX, 30, undefined)
  assert.deepEqual([running, streams, isFilled], [10_000, 9600, true])
})

test('of a fleet that is too large some agents run, and poll for the others', () => {
  const { running, streams } = planFleet(100_000, FILES_MAX, 30, undefined)
  assert.deepEqual([running, streams], [14_700, 4900])
})

test('new hosts of a restart have room too', () => {
  const { running, newHosts, streams } = planFleet(10_000, FILES_MAX, 30, 'restart')
  assert.deepEqual([running, newHosts, streams], [10_000, 500, 9100])
})

test('for renewals each certificate is due, and none is near its end', () => {
  const [min, max] = planFleet(10, FILES_MAX, 30, 'renewal').ageSeconds
  // Due is a certificate of 24 h in its last 6 h, more or less a tenth.
  assert.ok(min >= (18 + 0.6) * 3600 && max <= 23 * 3600)
  const [, usualMax] = planFleet(10, FILES_MAX, 30, undefined).ageSeconds
  assert.ok(usualMax < (18 - 0.6) * 3600)
})
