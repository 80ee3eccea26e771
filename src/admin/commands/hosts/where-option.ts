// `--where`: which hosts, by a selector. A mistake in it is told before the hub is asked. docs/protocol.md LBL-5, LBL-11.

import { UserError } from '../../../platform/errors.ts'
import type { AdminOperations } from '../../../protocol/admin/operations.ts'
import { findReportedKey, formatSelector, parseSelector } from '../../../protocol/selector.ts'
import { requireFeature } from '../require-feature.ts'

export const WHERE_FLAG = '--where <selector>'
const FORM = "write it as 'role=web,env in (prod,stage),!canary'"

/** In its one form. */
function parseSelectorOption(text: string, option: string): string {
  const parsed = parseSelector(text)
  if (parsed.ok) return formatSelector(parsed.selector)
  throw new UserError('selector_invalid', `${option}, column ${parsed.column}: ${parsed.message}`, {
    hint: FORM,
  })
}

/** Of what does something to each host: what agents say of themselves may not choose them. docs/protocol.md LBL-7. */
export function parseDecidingSelector(text: string, option: string): string {
  const selector = parseSelectorOption(text, option)
  const parsed = parseSelector(selector)
  const key = parsed.ok ? findReportedKey(parsed.selector) : undefined
  if (key === undefined) return selector
  throw new UserError('selector_reported', `${option}: the agents themselves say what ${key} is`, {
    hint: 'look at what svc agent list --where shows, and name the hosts',
  })
}

export function parseWhereOption(text: string): string {
  return parseSelectorOption(text, '--where')
}

export function parseDecidingWhereOption(text: string): string {
  return parseDecidingSelector(text, '--where')
}

/** Of which field of which request an older hub knows nothing, and what that would mean. */
interface WhereUse {
  readonly feature: string
  readonly consequence: string
}

const OF_HOSTS: WhereUse = {
  feature: 'labels',
  consequence: 'it would take every host for one that matches',
}
/** An older hub would make a carga for nobody, or for the hosts of today. docs/protocol.md API-28. */
export const OF_CARGO: WhereUse = {
  feature: 'selected_cargas',
  consequence: 'no load belongs to a selector there',
}

/** An older hub ignores the field that it does not know, and answers for every host. */
export async function requireWhere(
  operations: Pick<AdminOperations, 'showFeatures'>,
  where: string | undefined,
  { feature, consequence }: WhereUse = OF_HOSTS,
): Promise<{ readonly where?: string }> {
  if (where === undefined) return {}
  await requireFeature(operations, feature, consequence)
  return { where }
}
