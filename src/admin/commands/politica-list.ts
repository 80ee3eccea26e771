import type { Command } from 'commander'
import type { CommandContext } from './command-context.ts'
import { registerList } from './register-list.ts'
import { renderSeconds } from './render-policy.ts'

export function registerPoliticaList(politica: Command, context: CommandContext): void {
  registerList(politica, context, {
    description: 'list the politicas, by role',
    plural: 'politicas',
    ask: (operations, page) => operations.listPolicies(page),
    rowsOf: ({ politicas }) => politicas,
    columns: {
      ROLE: (policy) => policy.role,
      NOME: (policy) => policy.nome,
      TOKEN_TTL_MAX: (policy) => renderSeconds(policy.token_ttl_max),
      CERT_TTL: (policy) => renderSeconds(policy.cert_ttl),
      SANS_PERMITIDOS: (policy) => policy.sans_permitidos.join(','),
      CARGAS_AUTOMATICAS: (policy) => policy.cargas_automaticas.length,
    },
  })
}
