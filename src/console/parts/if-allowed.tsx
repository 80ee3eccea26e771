// An action that the role may not do is not in the document; the hub decides anyway.

import type { ComponentChildren, JSX } from 'preact'
import { type AdminOperationName, roleNeeded } from '../api/operations.ts'
import { isAtLeast } from '../api/session.ts'

export function IfAllowed({
  name,
  children,
}: {
  readonly name: AdminOperationName
  readonly children: ComponentChildren
}): JSX.Element | null {
  return isAtLeast(roleNeeded(name)) ? <>{children}</> : null
}
