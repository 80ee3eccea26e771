import { listCommand } from '../list-command.ts'
import { renderSeconds } from './render-policy.ts'

export const registerPoliticaSelectors = listCommand({
  name: 'selectors',
  description: 'list the policies with selectors, by name',
  about: `Each narrows the policy of the role for the hosts that match: svc agent show names the policies of a host.`,
  plural: 'politicas',
  cursor: 'nome',
  ask: (operations, page) => operations.listSelectorPolicies(page),
  columns: {
    nome: (policy) => policy.nome,
    where: (policy) => policy.where,
    token_ttl_max: (policy) => renderSeconds(policy.token_ttl_max),
    cert_ttl: (policy) => renderSeconds(policy.cert_ttl),
    sans_permitidos: (policy) => policy.sans_permitidos.join(','),
    cargas_automaticas: (policy) => policy.cargas_automaticas.length,
  },
})
