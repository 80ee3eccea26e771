import { listCommand } from '../list-command.ts'
import { renderSeconds } from './render-policy.ts'

export const registerPoliticaList = listCommand({
  description: 'list the policies of roles, by role',
  about: 'Policies with selectors narrow these: svc policy selectors lists them.',
  plural: 'politicas',
  cursor: 'role',
  ask: (operations, page) => operations.listPolicies(page),
  columns: {
    role: (policy) => policy.role,
    nome: (policy) => policy.nome,
    token_ttl_max: (policy) => renderSeconds(policy.token_ttl_max),
    cert_ttl: (policy) => renderSeconds(policy.cert_ttl),
    sans_permitidos: (policy) => policy.sans_permitidos.join(','),
    cargas_automaticas: (policy) => policy.cargas_automaticas.length,
  },
})
