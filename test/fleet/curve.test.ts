import assert from 'node:assert/strict'
import { test } from 'node:test'
import { describeInterval, mergeSamples, renderHead, renderInterval } from '../../fleet/curve.ts'
import type { Sample } from '../../fleet/driver.ts'
import type { Reading } from '../../fleet/meters.ts'
import { renderFailures } from '../../fleet/report.ts'

const BEFORE: Reading = {
  atSeconds: 100,
  hubPid: 7,
  hubSeconds: 3,
  hubMegabytes: 140,
  authoritySeconds: 1,
  driverSeconds: 2,
  machineSeconds: 50,
}
const AFTER: Reading = {
  ...BEFORE,
  atSeconds: 110,
  hubSeconds: 5,
  hubMegabytes: 180,
  authoritySeconds: 1.5,
  driverSeconds: 3,
  machineSeconds: 60,
}
const SAMPLE: Sample = {
  latencies: {
    // 1 ms and 4 ms.
    poll: [
      [141, 900],
      [170, 50],
    ],
    event: [[141, 50]],
    issue: [[190, 1000]],
    handshake: [[190, 10]],
  },
  failures: { 'poll: cut': 2, 'issue: 502 ca_failed': 3 },
  streams: 10,
  connections: 20,
  served: 10,
  served_last_seconds: 4,
  lost_tokens: 0,
  enrolled: 0,
  renewed: 1000,
  delivered: 0,
  broken: 0,
  ca_at_once: 16,
  ca_calls: 1000,
  cpu_seconds: 3,
}

test('an interval says what each process took of a core, and of the hub for one operation', () => {
  const interval = describeInterval(BEFORE, AFTER, SAMPLE)
  assert.deepEqual(
    [interval.hubShare, interval.authorityShare, interval.driverShare, interval.othersShare],
    [0.2, 0.05, 0.1, 0.65],
  )
  // Handshakes belong to the requests that they were for.
  assert.equal(interval.operations, 2000)
  assert.equal(interval.hubMsPerOperation, 1)
  assert.equal(interval.failures, 5)
})

test('its percentiles are of requests on kept connections', () => {
  const { p50Ms, p99Ms, handshakeP99Ms } = describeInterval(BEFORE, AFTER, SAMPLE)
  assert.deepEqual(
    [p50Ms, p99Ms, handshakeP99Ms].map((ms) => ms?.toFixed(1)),
    ['1.0', '4.2', '11.1'],
  )
})

test('a hub that was started again counts from nothing', () => {
  const again = { ...AFTER, hubPid: 8, hubSeconds: 1 }
  assert.equal(describeInterval(BEFORE, again, SAMPLE).hubShare, 0.1)
})

test('an interval without operations has no time for one', () => {
  const { hubMsPerOperation, p99Ms } = describeInterval(BEFORE, AFTER, {
    ...SAMPLE,
    latencies: {},
  })
  assert.deepEqual([hubMsPerOperation, p99Ms], [undefined, undefined])
})

test('counts of several samples add up, and what is held is what is held at the end', () => {
  const merged = mergeSamples([
    SAMPLE,
    {
      ...SAMPLE,
      latencies: { poll: [[170, 1]] },
      failures: { 'poll: cut': 1 },
      streams: 4,
      ca_at_once: 3,
    },
  ])
  assert.deepEqual(merged?.latencies['poll'], [
    [141, 900],
    [170, 51],
  ])
  assert.deepEqual(merged?.failures, { 'poll: cut': 3, 'issue: 502 ca_failed': 3 })
  assert.deepEqual([merged?.streams, merged?.ca_at_once], [4, 16])
})

test('a line has the columns of the head', () => {
  const line = renderInterval(10, 'steady', 10, describeInterval(BEFORE, AFTER, SAMPLE), SAMPLE)
  assert.equal(
    line.trim().replace(/\s+/g, ' '),
    '10 steady 10 20 10 200 20.0 1.000 180 1.0 4.2 11 5 16 5.0 10.0 65.0',
  )
  assert.equal(
    renderHead()
      .trim()
      .split(/\s{2,}/).length,
    17,
  )
})

test('the errors that came most often are first', () => {
  assert.equal(renderFailures(SAMPLE), '  error issue: 502 ca_failed: 3\n  error poll: cut: 2\n')
})
