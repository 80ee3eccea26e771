// Where the admin operations are on the hub's Unix socket and its admin port; apart from their schemas, which a client does not need.

export interface AdminRoute {
  readonly method: 'GET' | 'POST'
  /** `:name` stands for a field of the request. */
  readonly path: string
  /** 200 unless it says otherwise. */
  readonly status?: number
}

export const ADMIN_ROUTES = {
  createToken: { method: 'POST', path: '/v1/admin/tokens' },
  listTokens: { method: 'GET', path: '/v1/admin/tokens' },
  revokeToken: { method: 'POST', path: '/v1/admin/tokens/revoke' },
  listAgents: { method: 'GET', path: '/v1/admin/agentes' },
  showAgent: { method: 'POST', path: '/v1/admin/agentes/show' },
  revokeAgent: { method: 'POST', path: '/v1/admin/agentes/revoke' },
  removeAgent: { method: 'POST', path: '/v1/admin/agentes/remove' },
  listCaRevocations: { method: 'POST', path: '/v1/admin/agentes/revocations' },
  createCargo: { method: 'POST', path: '/v1/admin/cargas' },
  listCargoes: { method: 'GET', path: '/v1/admin/cargas' },
  updateCargo: { method: 'POST', path: '/v1/admin/cargas/update' },
  removeCargo: { method: 'POST', path: '/v1/admin/cargas/remove' },
  listRecipients: { method: 'POST', path: '/v1/admin/recipients/list' },
  readContent: { method: 'POST', path: '/v1/admin/cargas/conteudo' },
  cancelDelivery: { method: 'POST', path: '/v1/admin/entregas/cancel' },
  retryDeliveries: { method: 'POST', path: '/v1/admin/entregas/retry' },
  listDeliveries: { method: 'GET', path: '/v1/admin/entregas' },
  setPolicy: { method: 'POST', path: '/v1/admin/politicas' },
  listPolicies: { method: 'GET', path: '/v1/admin/politicas' },
  showPolicy: { method: 'POST', path: '/v1/admin/politicas/show' },
  removePolicy: { method: 'POST', path: '/v1/admin/politicas/remove' },
  showBundle: { method: 'GET', path: '/v1/admin/bundle' },
  updateBundle: { method: 'POST', path: '/v1/admin/bundle/update' },
  listEntries: { method: 'POST', path: '/v1/admin/eventos/list' },
  pushToAgent: {
    method: 'POST',
    path: '/v1/push/:agente',
    status: 202,
  },
  createWebhook: { method: 'POST', path: '/v1/admin/webhooks' },
  listWebhooks: { method: 'GET', path: '/v1/admin/webhooks' },
  showWebhook: { method: 'POST', path: '/v1/admin/webhooks/show' },
  testWebhook: { method: 'POST', path: '/v1/admin/webhooks/test' },
  replayWebhook: { method: 'POST', path: '/v1/admin/webhooks/replay' },
  removeWebhook: { method: 'POST', path: '/v1/admin/webhooks/remove' },
  showStatus: { method: 'GET', path: '/v1/admin/status' },

  createAccessToken: { method: 'POST', path: '/v1/admin/admin-tokens' },
  listAccessTokens: { method: 'GET', path: '/v1/admin/admin-tokens' },
  revokeAccessToken: { method: 'POST', path: '/v1/admin/admin-tokens/revoke' },
} as const satisfies Readonly<Record<string, AdminRoute>>

/** Those that make something, and take an `Idempotency-Key`. */
export const ADMIN_CREATES = [
  'createToken',
  'createCargo',
  'createAccessToken',
  'createWebhook',
  'pushToAgent',
] as const
export type AdminCreateName = (typeof ADMIN_CREATES)[number]

/** Those whose reply is about one politica, and carries its ETag. */
export const ADMIN_POLICY_OPERATIONS = ['setPolicy', 'showPolicy', 'removePolicy'] as const

/** Cursor lists answer at most `limit` rows after `after`, and in `next` what the next page starts after. */
export const ENTRY_PAGE_MAX = 500
export const LIST_PAGE_MAX = 10_000

/** Room for a sealed file of the default limit with the recipients of a few thousand agents. */
export const SEALED_BASE64_CHARACTERS_MAX = 12 * 1024 * 1024

/** The content of a file that is pushed, in UTF-8. */
export const PUSH_BYTES_MAX = 16 * 1024
