// The role of a token that is made: one of the three, or what else the form offers in its place.

import type { JSX } from 'preact'
import { ADMIN_ROLES, type AdminRole } from '../../../protocol/admin/roles.ts'

export function RoleField({
  label,
  role,
  onRole,
  nameOf = (one) => one,
  none,
  hint,
}: {
  readonly label: string
  readonly role: AdminRole | undefined
  readonly onRole: (role: AdminRole | undefined) => void
  readonly nameOf?: (role: AdminRole) => string
  /** No role at all; not offered without it. */
  readonly none?: string
  readonly hint?: string
}): JSX.Element {
  return (
    <label>
      {label}
      <select
        value={role ?? ''}
        onChange={({ currentTarget: { value } }) =>
          onRole(ADMIN_ROLES.find((one) => one === value))
        }
      >
        {ADMIN_ROLES.map((one) => (
          <option key={one} value={one}>
            {nameOf(one)}
          </option>
        ))}
        {none !== undefined && <option value="">{none}</option>}
      </select>
      {hint !== undefined && <span class="hint">{hint}</span>}
    </label>
  )
}
