import { hash } from 'node:crypto'
import type { AdminPolicy, AdminSelectorPolicy } from '../../../protocol/admin/views.ts'

/** The entity tag (RFC 9110) of a politica, without its quotes. Each change of the politica changes it. */
export function policyTag(policy: AdminPolicy | AdminSelectorPolicy): string {
  const { nome, token_ttl_max, cert_ttl, sans_permitidos, cargas_automaticas } = policy
  const { sans_nomeados, reenroll } = policy
  const whom = 'role' in policy ? policy.role : { where: policy.where }
  const bounds = [token_ttl_max, cert_ttl, sans_permitidos, sans_nomeados]
  const all = [whom, nome, bounds, cargas_automaticas, reenroll]
  return hash('sha256', JSON.stringify(all), 'base64url')
}
