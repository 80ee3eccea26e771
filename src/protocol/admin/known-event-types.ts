// Types of entries that are no slip: those of this version, and those that the log has, since agents may send types of their own.

import { EventType, HubEventType } from '../words.ts'
import type { AdminOperations, AdminReplies } from './operations.ts'

export const KNOWN_EVENT_TYPES: readonly string[] = [
  ...Object.values(EventType),
  ...Object.values(HubEventType),
]

/** Looks into the log only for a type that is unknown here. docs/protocol.md CLI-60. */
export async function isKnownEventType(
  listEntries: AdminOperations['listEntries'],
  type: string,
): Promise<boolean> {
  if (KNOWN_EVENT_TYPES.includes(type)) return true
  let after: number | undefined = 0
  while (after !== undefined) {
    // A page may be empty before the end of the log.
    const { eventos, next }: AdminReplies['listEntries'] = await listEntries({
      tipo: type,
      after,
      limit: 1,
    })
    if (eventos.length > 0) return true
    after = next ?? undefined
  }
  return false
}
