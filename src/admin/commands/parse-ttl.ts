import { parseDurationMs } from '../../platform/durations.ts'
import { UserError } from '../../platform/errors.ts'

export interface TtlBounds {
  /** `--ttl` by default. */
  readonly option?: string
  /** A second by default. */
  readonly minSeconds?: number
  readonly minText?: string
  readonly maxSeconds: number
  /** As a person writes it: `7d`. */
  readonly maxText: string
  readonly hint: string
}

/** Whole seconds of what `--ttl`, or another option of a duration, says. */
export function parseTtlSeconds(text: string, bounds: TtlBounds): number {
  const { option = '--ttl', minSeconds = 1, minText = '1s' } = bounds
  const durationMs = parseDurationMs(text)
  if (durationMs === undefined) {
    throw new UserError('ttl_invalid', `${option}: ${text} is not a duration`, {
      hint: 'write it as 30m, 1h 30m or 2d',
    })
  }
  const seconds = durationMs / 1000
  if (!Number.isInteger(seconds) || seconds < minSeconds || seconds > bounds.maxSeconds) {
    throw new UserError(
      'ttl_invalid',
      `${option}: ${text} is not between ${minText} and ${bounds.maxText} in whole seconds`,
      { hint: bounds.hint },
    )
  }
  return seconds
}
