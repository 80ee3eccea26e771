import type { KeptLogin } from '../../doors/kept-login.ts'

/** What people and programs see of a login; never its token. */
export function viewOf({ hub, name, role, only, provider, expiresAt }: KeptLogin) {
  return {
    hub,
    name,
    role,
    only,
    provider: provider.name,
    issuer: provider.issuer,
    expires_at: expiresAt.toISOString(),
  }
}
