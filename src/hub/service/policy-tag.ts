import { hash } from 'node:crypto'
import type { AdminPolicy } from '../../protocol/admin-views.ts'

/** The entity tag (RFC 9110) of a politica, without its quotes: another one whenever any of it changes. */
export function policyTag(policy: AdminPolicy): string {
  const { role, nome, token_ttl_max, cert_ttl, sans_permitidos, cargas_automaticas } = policy
  const all = [role, nome, token_ttl_max, cert_ttl, sans_permitidos, cargas_automaticas]
  return hash('sha256', JSON.stringify(all), 'base64url')
}
