import { findReportedKey, parseSelector, type Selector } from '../../protocol/selector.ts'
import { AdminRefusal } from './admin-act.ts'

/** The selector of a list, which may look at everything. */
export function parseWhere(text: string, field = 'where'): Selector {
  const parsed = parseSelector(text)
  if (parsed.ok) return parsed.selector
  const { column, message } = parsed
  throw new AdminRefusal('selector_invalid', `${field}, column ${column}: ${message}`, {
    column: `${column}`,
  })
}

/** The selector of what decides: what agents say of themselves does not count there. docs/protocol.md LBL-7. */
export function parseDecidingWhere(text: string, field = 'where'): Selector {
  const selector = parseWhere(text, field)
  const key = findReportedKey(selector)
  if (key === undefined) return selector
  throw new AdminRefusal(
    'selector_reported',
    `${field}: the agents themselves say what ${key} is`,
    {
      key,
    },
  )
}
