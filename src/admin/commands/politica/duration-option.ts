import { parseDurationMs } from '../../../platform/durations.ts'
import { UserError } from '../../../platform/errors.ts'

/** Whole seconds, at least one. */
export function parseSecondsOption(option: string, text: string): number {
  const seconds = (parseDurationMs(text) ?? Number.NaN) / 1000
  if (Number.isInteger(seconds) && seconds >= 1) return seconds
  throw new UserError('usage', `${option}: ${text} is not a duration in whole seconds`, {
    hint: 'write it as 30m, 1h 30m or 2d',
  })
}
