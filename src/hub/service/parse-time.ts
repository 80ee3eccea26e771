import { UserError } from '../../platform/errors.ts'
import { parseInstant } from '../../platform/instants.ts'

/** Throws a UserError on what is no time of RFC 3339 (docs/protocol.md API-26). */
export function parseTime(text: string): Date {
  const time = parseInstant(text)
  if (time !== undefined) return time
  throw new UserError('time_invalid', `${text} is not a time`, {
    hint: 'write it as 2026-01-31T12:00:00Z',
  })
}
