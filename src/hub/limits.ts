import { UserError } from '../platform/errors.ts'
import { type HubLimits, type Limit, limitsFrom } from '../protocol/hub-limits.ts'

type Environment = Readonly<Record<string, string | undefined>>

/** What the `SVC_LIMIT_…` variables say; throws a UserError on one that is no whole number. */
export function parseHubLimits(env: Environment): HubLimits {
  return limitsFrom((limit) => parseLimit(env, limit))
}

function parseLimit(env: Environment, limit: Limit): number {
  const text = env[limit.variable] ?? ''
  if (text === '') return limit.default
  if (!/^\d{1,12}$/.test(text)) {
    throw new UserError('config_invalid', `${limit.variable}: ${text} is not a whole number`, {
      hint: '0 lifts the limit',
    })
  }
  return Number(text) === 0 ? Number.POSITIVE_INFINITY : Number(text)
}
