// Real connections to a hub that lives by a clock of the test: Node fills in a reply's `Date` by that of the machine.

import { type HubConnections, networkConnections } from '../../src/agent/hub/gateway.ts'
import type { Clock } from '../../src/platform/clock.ts'

export function createClockedConnections(hubClock: Pick<Clock, 'now'>): HubConnections {
  return {
    ...networkConnections,
    createHubClient: (options) =>
      networkConnections.createHubClient({
        ...options,
        noteHubTime: () => options.noteHubTime(hubClock.now()),
      }),
    createEnrollClient: (options) =>
      networkConnections.createEnrollClient({
        ...options,
        noteHubTime: () => options.noteHubTime?.(hubClock.now()),
      }),
  }
}
