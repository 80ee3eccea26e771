// Entries that a fleet makes by itself while all is well: each renewal, each file in its place. A person who reads the log leaves them
// out. docs/protocol.md CHN-41.

import { EventType, HubEventType } from './words.ts'

/** The index of the store is over these: another set is another step of its tables. */
export const ROUTINE_EVENT_TYPES: readonly string[] = [
  HubEventType.certificateIssued,
  EventType.certRenewed,
  EventType.deliveryInstalled,
  EventType.deliveryDelivered,
  EventType.manifestPulled,
  EventType.targetApplied,
]

export function isRoutine(eventType: string): boolean {
  return ROUTINE_EVENT_TYPES.includes(eventType)
}
