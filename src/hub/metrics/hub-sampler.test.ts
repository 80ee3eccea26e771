import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { Clock } from '../../platform/clock.ts'
import { NO_SAMPLE } from '../domain/hub-samples.ts'
import { createHubSampler, type HubSampler } from './hub-sampler.ts'

const START_MS = Date.parse('2026-11-21T10:00:00Z')

/** Each sleep takes as long as the next of these, then the hub stops. */
async function runThrough(
  sleepsMs: readonly number[],
  before: (sampler: HubSampler, minute: number) => void,
): Promise<HubSampler> {
  let nowMs = START_MS
  let slept = 0
  const stop = new AbortController()
  const clock: Clock = {
    now: () => new Date(nowMs),
    sleep: async () => {
      const ms = sleepsMs[slept]
      if (ms === undefined) return stop.abort()
      before(sampler, slept)
      nowMs += ms
      slept += 1
    },
  }
  const sampler: HubSampler = createHubSampler(clock, () => slept)
  await sampler.run(stop.signal)
  return sampler
}

const MINUTE = 60_000

test('[OVW-8] a minute has the requests of agents, not of operators, and not how long streams are held', async () => {
  const sampler = await runThrough([MINUTE, MINUTE], ({ onAnswer, onCaCall }, minute) => {
    if (minute > 0) return
    for (let at = 0; at < 600; at += 1) {
      onAnswer({ port: 'mtls', route: '/v1/manifest', status: 200, durationMs: 2 })
    }
    onAnswer({ port: 'admin', route: '/v1/admin/status', status: 200, durationMs: 9000 })
    onAnswer({ port: 'mtls', route: '/v1/stream', status: 200, durationMs: 9000 })
    onCaCall('ok', 100)
    onCaCall('timeout', 5000)
  })
  const { since, until, samples } = sampler.read(60)
  assert.deepEqual([since, until], [new Date(START_MS), new Date(START_MS + 2 * MINUTE)])
  const [first, second] = samples
  assert.equal(first?.requestsPerSecond, 10)
  assert.ok((first?.requestP99Ms ?? 9) <= 2.2)
  assert.ok((first?.caMedianMs ?? 0) >= 100 && (first?.caP99Ms ?? 0) >= 5000)
  assert.deepEqual(second, {
    requestsPerSecond: 0,
    requestP99Ms: null,
    caMedianMs: null,
    caP99Ms: null,
    connected: 2,
    busyPercent: second?.busyPercent,
  })
})

test('[OVW-8] minutes in which the machine slept have no figures, and a day is all that is kept', async () => {
  const asleep = await runThrough([MINUTE, 4 * MINUTE], () => undefined)
  const { samples } = asleep.read(60)
  assert.deepEqual(
    samples.map(({ connected }) => connected),
    [1, null, null, null, 2],
  )
  assert.deepEqual(samples[1], NO_SAMPLE)
  const long = await runThrough([MINUTE, 10_000 * MINUTE, -5 * MINUTE], () => undefined)
  assert.equal(long.read(9999).samples.length, 1440)
  assert.equal(long.read(60).samples.length, 60)
})
