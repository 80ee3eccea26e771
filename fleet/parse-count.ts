import { UserError } from '../src/platform/errors.ts'

/** What an option of that name says, from 1 on. Throws a UserError with the hint. */
export function parseCount(
  name: string,
  text: string | undefined,
  preset: number,
  hint: string,
): number {
  if (text === undefined) return preset
  const count = /^\d{1,9}$/.test(text) ? Number(text) : 0
  if (count === 0) throw new UserError('usage', `--${name}: ${text} is no number`, { hint })
  return count
}
