// One sample a minute of how this hub is, for a day: for those who look at the hub itself, whether or not metrics are on.

import type { Clock } from '../../platform/clock.ts'
import type { PortName } from '../../protocol/routes.ts'
import { ROUTES } from '../../protocol/routes.ts'
import {
  type HubSample,
  type HubSamples,
  NO_SAMPLE,
  SAMPLE_INTERVAL_MS,
  SAMPLES_MAX,
} from '../domain/hub-samples.ts'
import type { AnsweredRequest } from '../http/answer-log.ts'
import type { OnCaCall } from './ca-calls.ts'
import { DurationCounts } from './duration-counts.ts'

export interface HubSampler {
  readonly onAnswer: (answer: AnsweredRequest) => void
  readonly onCaCall: OnCaCall
  /** The last `minutes` of them at most. */
  read(minutes: number): HubSamples
  run(this: void, signal: AbortSignal): Promise<void>
}

/** Of agents: an operator's requests say nothing of how it is for the fleet. */
const PORTS: ReadonlySet<PortName> = new Set(['enroll', 'enroll_tls', 'mtls'])

export function createHubSampler(clock: Clock, countStreams: () => number): HubSampler {
  const requests = new DurationCounts()
  const caCalls = new DurationCounts()
  const since = clock.now()
  let until = since
  let utilization = performance.eventLoopUtilization()
  const samples: HubSample[] = []
  const push = (sample: HubSample): void => {
    samples.push(sample)
    if (samples.length > SAMPLES_MAX) samples.shift()
  }
  const take = (now: Date): void => {
    const minutes = Math.round((now.getTime() - until.getTime()) / SAMPLE_INTERVAL_MS)
    // The machine slept, or its clock was set.
    for (let gone = 1; gone < Math.min(minutes, SAMPLES_MAX); gone += 1) push(NO_SAMPLE)
    const looked = performance.eventLoopUtilization()
    const busy = performance.eventLoopUtilization(looked, utilization).utilization
    utilization = looked
    until = now
    push({
      requestsPerSecond: tenths(requests.total / (SAMPLE_INTERVAL_MS / 1000)),
      requestP99Ms: tenthsOrNull(requests.percentileMs(99)),
      caMedianMs: tenthsOrNull(caCalls.percentileMs(50)),
      caP99Ms: tenthsOrNull(caCalls.percentileMs(99)),
      connected: countStreams(),
      busyPercent: tenths(busy * 100),
    })
    requests.clear()
    caCalls.clear()
  }
  return {
    onAnswer: ({ port, route, durationMs }) => {
      // A stream is answered for as long as it is held: that is no latency.
      if (PORTS.has(port) && route !== ROUTES.stream.path) requests.add(durationMs)
    },
    onCaCall: (_outcome, durationMs) => caCalls.add(durationMs),
    read: (minutes) => ({ since, until, samples: samples.slice(-minutes) }),
    run: async (signal) => {
      while (!signal.aborted) {
        await clock.sleep(SAMPLE_INTERVAL_MS, signal).catch(() => undefined)
        if (!signal.aborted) take(clock.now())
      }
    },
  }
}

function tenths(value: number): number {
  return Math.round(value * 10) / 10
}

function tenthsOrNull(value: number | null): number | null {
  return value === null ? null : tenths(value)
}
