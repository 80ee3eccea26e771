// Where the admin operations are on the hub's Unix socket; apart from their schemas, which a client does not need.

export const ADMIN_ROUTES = {
  createToken: { method: 'POST', path: '/v1/admin/tokens' },
  listTokens: { method: 'GET', path: '/v1/admin/tokens' },
  revokeToken: { method: 'POST', path: '/v1/admin/tokens/revoke' },
  listAgents: { method: 'GET', path: '/v1/admin/agentes' },
  showAgent: { method: 'POST', path: '/v1/admin/agentes/show' },
  revokeAgent: { method: 'POST', path: '/v1/admin/agentes/revoke' },
  removeAgent: { method: 'POST', path: '/v1/admin/agentes/remove' },
  createCargo: { method: 'POST', path: '/v1/admin/cargas' },
  listCargoes: { method: 'GET', path: '/v1/admin/cargas' },
  updateCargo: { method: 'POST', path: '/v1/admin/cargas/update' },
  removeCargo: { method: 'POST', path: '/v1/admin/cargas/remove' },
  listRecipients: { method: 'POST', path: '/v1/admin/recipients/list' },
  readContent: { method: 'POST', path: '/v1/admin/cargas/conteudo' },
  cancelDelivery: { method: 'POST', path: '/v1/admin/entregas/cancel' },
  retryDeliveries: { method: 'POST', path: '/v1/admin/entregas/retry' },
  listDeliveries: { method: 'GET', path: '/v1/admin/entregas' },
  listEntries: { method: 'POST', path: '/v1/admin/eventos/list' },
} as const

/** Cursor lists answer at most `limit` rows after `after`; the next page starts after the last one's `seq`. */
export const ENTRY_PAGE_MAX = 500

/** Room for a sealed file of the default limit with the recipients of a few thousand agents. */
export const SEALED_BASE64_CHARACTERS_MAX = 12 * 1024 * 1024
