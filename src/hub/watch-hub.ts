// What a hub notes of itself while it runs, whether or not metrics are on: its calls to the CA, and a sample each minute.

import type { Clock } from '../platform/clock.ts'
import { type CaCalls, createCaCalls } from './metrics/ca-calls.ts'
import type { HubMeters } from './metrics/hub-meters.ts'
import { createHubSampler } from './metrics/hub-sampler.ts'
import type { PortMeters } from './ports.ts'
import type { LiveHub } from './service/admin/admin-context.ts'

export interface HubWatch {
  readonly caCalls: CaCalls
  readonly portMeters: PortMeters
  /** For operators. */
  showLive(certificateEnd: LiveHub['certificateEnd']): LiveHub
  run(this: void, signal: AbortSignal): Promise<void>
}

export function watchHub(
  clock: Clock,
  meters: HubMeters | undefined,
  countStreams: () => number,
): HubWatch {
  const sampler = createHubSampler(clock, countStreams)
  const caCalls = createCaCalls(clock, (outcome, durationMs) => {
    sampler.onCaCall(outcome, durationMs)
    meters?.onCaCall(outcome, durationMs)
  })
  return {
    caCalls,
    portMeters: {
      onAnswer: (answer) => {
        sampler.onAnswer(answer)
        meters?.onAnswer(answer)
      },
      onRefusal: meters?.onRefusal,
      onHandshakeFailure: meters?.onHandshakeFailure,
    },
    showLive: (certificateEnd) => ({
      certificateEnd,
      lastCaFailure: () => caCalls.lastFailure,
      countStreams,
      readSamples: (minutes) => sampler.read(minutes),
    }),
    run: sampler.run,
  }
}
