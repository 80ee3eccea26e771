// An action that the role, or the hosts of the token, forbid is not in the document; the hub decides anyway.

import type { ComponentChildren, JSX } from 'preact'
import type { AdminOperationName } from '../api/operations.ts'
import { isAllowed } from '../api/session.ts'

export function IfAllowed({
  name,
  children,
}: {
  readonly name: AdminOperationName
  readonly children: ComponentChildren
}): JSX.Element | null {
  return isAllowed(name) ? <>{children}</> : null
}
