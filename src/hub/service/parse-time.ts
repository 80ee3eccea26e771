import { UserError } from '../../platform/errors.ts'

/** Throws a UserError on what is no time. */
export function parseTime(text: string): Date {
  const time = new Date(text)
  if (!Number.isNaN(time.getTime())) return time
  throw new UserError('time_invalid', `${text} is not a time`, {
    hint: 'write it as 2026-01-31T12:00:00Z',
  })
}
