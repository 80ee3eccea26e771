// What agents report, recorded as a hub records it, by hosts that no budget bounds.

import { createEventBudget } from '../../src/hub/service/agent/event-budget.ts'
import { createRecordEvent } from '../../src/hub/service/agent/record-event.ts'
import type { Store } from '../../src/hub/store/store.ts'
import type { Clock } from '../../src/platform/clock.ts'

const PAYLOAD_BYTES_MAX = 65_536

export function recordUnbounded(store: Store, clock: Clock): ReturnType<typeof createRecordEvent> {
  const budget = createEventBudget({
    store,
    clock,
    bytesPerDay: Number.POSITIVE_INFINITY,
    findRoom: () => Promise.resolve('enough'),
  })
  return createRecordEvent(clock, { eventPayloadBytes: PAYLOAD_BYTES_MAX }, budget)
}
