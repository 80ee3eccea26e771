import { UserError } from '../../../platform/errors.ts'
import type { AgentSelectionOptions } from '../hosts/select-agents.ts'

interface RefusedChoice {
  readonly usage: string
  readonly hint: string
}

/** As a selector, which the hub asks again for each wave; undefined for all. */
export function chooseHosts(
  {
    name,
    role,
    where,
    all,
    file,
  }: Partial<AgentSelectionOptions> & { readonly name?: string | undefined },
  { usage, hint }: RefusedChoice,
): string | undefined {
  const roles = role ?? []
  const ways = [roles.length > 0 || undefined, where, all].filter((way) => way !== undefined)
  if (name !== undefined || file !== undefined || ways.length !== 1) {
    throw new UserError('usage', usage, { hint })
  }
  return roles.length > 0 ? `role in (${roles.join(',')})` : where
}
