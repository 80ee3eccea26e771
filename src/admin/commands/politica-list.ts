import { listCommand } from './list-command.ts'
import { renderSeconds } from './render-policy.ts'

export const registerPoliticaList = listCommand({
  description: 'list the politicas, by role',
  plural: 'politicas',
  cursor: 'role',
  ask: (operations, page) => operations.listPolicies(page),
  columns: {
    ROLE: (policy) => policy.role,
    NOME: (policy) => policy.nome,
    TOKEN_TTL_MAX: (policy) => renderSeconds(policy.token_ttl_max),
    CERT_TTL: (policy) => renderSeconds(policy.cert_ttl),
    SANS_PERMITIDOS: (policy) => policy.sans_permitidos.join(','),
    CARGAS_AUTOMATICAS: (policy) => policy.cargas_automaticas.length,
  },
})
