// What the holder of an admin token may do. A role may do all that the roles before it may.

export const ADMIN_ROLES = ['viewer', 'operator', 'admin'] as const
export type AdminRole = (typeof ADMIN_ROLES)[number]

export function includesRole(role: AdminRole, needed: AdminRole): boolean {
  return ADMIN_ROLES.indexOf(role) >= ADMIN_ROLES.indexOf(needed)
}
