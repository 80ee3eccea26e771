import { UserError } from '../../../platform/errors.ts'
import { LIMITS } from '../../../protocol/limits.ts'

/** The value of --number. */
export function parseSetNumber(text: string): number {
  const number = /^\d{1,10}$/.test(text) ? Number(text) : Number.NaN
  if (number >= 1 && number <= LIMITS.rootSetNumberNamedMax) return number
  const { rootSetNumberNamedMax: most } = LIMITS
  throw new UserError('usage', `--number: ${text} is not a whole number between 1 and ${most}`, {
    hint: 'svc bundle status shows the number of the set in force',
  })
}
