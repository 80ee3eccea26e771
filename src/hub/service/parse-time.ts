import { AdminRefusal } from './admin-act.ts'
import { parseInstant } from '../../platform/instants.ts'

/** Throws an AdminRefusal on what is no time of RFC 3339 (docs/protocol.md API-26). */
export function parseTime(text: string): Date {
  const time = parseInstant(text)
  if (time !== undefined) return time
  throw new AdminRefusal('time_invalid', `${text} is not a time`)
}
