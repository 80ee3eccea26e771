import { invariant } from '../../../platform/errors.ts'
import { parseSelector, type Selector } from '../../../protocol/selector.ts'

/** It was written in its one form. */
export function toSelector(text: string): Selector {
  const parsed = parseSelector(text)
  invariant(parsed.ok, 'a selector in the vault can be read')
  return parsed.selector
}
