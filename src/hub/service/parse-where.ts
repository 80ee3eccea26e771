import { findReportedKey, parseSelector, type Selector } from '../../protocol/selector.ts'
import { AdminRefusal } from './admin-act.ts'

/** The selector of a list, which may look at everything. */
export function parseWhere(text: string): Selector {
  const parsed = parseSelector(text)
  if (parsed.ok) return parsed.selector
  const { column, message } = parsed
  throw new AdminRefusal('selector_invalid', `where, column ${column}: ${message}`, {
    column: `${column}`,
  })
}

/** The selector of what decides: what agents say of themselves does not count there. docs/protocol.md LBL-7. */
export function parseDecidingWhere(text: string): Selector {
  const selector = parseWhere(text)
  const key = findReportedKey(selector)
  if (key === undefined) return selector
  throw new AdminRefusal('selector_reported', `where: the agents themselves say what ${key} is`, {
    key,
  })
}
