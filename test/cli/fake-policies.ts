// The politicas of the fake hub.

import type { AdminOperations, AdminReplies } from '../../src/protocol/admin/operations.ts'
import { AGENT } from './fake-agent.ts'

const POLICY: AdminReplies['setPolicy'] = {
  role: '*',
  nome: '*',
  token_ttl_max: 3600,
  cert_ttl: null,
  sans_permitidos: ['*'],
  sans_nomeados: true,
  reenroll: false,
  cargas_automaticas: [],
  cargas_afetadas: [],
}
const PROD: AdminReplies['setSelectorPolicy'] = {
  nome: 'prod',
  where: 'env=prod',
  token_ttl_max: null,
  cert_ttl: 86_400,
  sans_permitidos: ['*.prod.example.org'],
  sans_nomeados: true,
  reenroll: null,
  cargas_automaticas: [],
  cargas_afetadas: [],
}
export const POLICIES: Pick<
  AdminOperations,
  | 'setPolicy'
  | 'listPolicies'
  | 'showPolicy'
  | 'removePolicy'
  | 'setSelectorPolicy'
  | 'listSelectorPolicies'
  | 'showSelectorPolicy'
  | 'removeSelectorPolicy'
> = {
  setPolicy: async () => POLICY,
  listPolicies: async () => ({ politicas: [POLICY], next: null }),
  showPolicy: async () => ({ ...POLICY, agentes: [AGENT.hostname] }),
  removePolicy: async () => POLICY,
  setSelectorPolicy: async () => PROD,
  listSelectorPolicies: async () => ({ politicas: [PROD], next: null }),
  showSelectorPolicy: async () => ({ ...PROD, agentes: [AGENT.hostname] }),
  removeSelectorPolicy: async () => PROD,
}
