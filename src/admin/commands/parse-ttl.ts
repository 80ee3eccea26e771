import { parseDurationMs } from '../../platform/durations.ts'
import { UserError } from '../../platform/errors.ts'

export interface TtlBounds {
  readonly maxSeconds: number
  /** As a person writes it: `7d`. */
  readonly maxText: string
  readonly hint: string
}

/** Whole seconds of what `--ttl` says. */
export function parseTtlSeconds(text: string, bounds: TtlBounds): number {
  const durationMs = parseDurationMs(text)
  if (durationMs === undefined) {
    throw new UserError('ttl_invalid', `--ttl: ${text} is not a duration`, {
      hint: 'write it as 30m, 1h 30m or 2d',
    })
  }
  const seconds = durationMs / 1000
  if (!Number.isInteger(seconds) || seconds < 1 || seconds > bounds.maxSeconds) {
    throw new UserError(
      'ttl_invalid',
      `--ttl: ${text} is not between 1s and ${bounds.maxText} in whole seconds`,
      { hint: bounds.hint },
    )
  }
  return seconds
}
