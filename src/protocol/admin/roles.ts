// What the holder of an admin token may do: the one table. A role may do all that those before it may.

import type { AdminOperationName } from './operations.ts'

export const ADMIN_ROLES = ['viewer', 'operator', 'admin'] as const
export type AdminRole = (typeof ADMIN_ROLES)[number]

/** The least role that an operation needs. */
export const ROLE_NEEDED: Readonly<Record<AdminOperationName, AdminRole>> = {
  listTokens: 'viewer',
  listAgents: 'viewer',
  showAgent: 'viewer',
  listCargoes: 'viewer',
  listDeliveries: 'viewer',
  listEntries: 'viewer',
  listRecipients: 'viewer',
  listCaRevocations: 'viewer',
  listPolicies: 'viewer',
  showPolicy: 'viewer',
  showStatus: 'viewer',
  showBundle: 'viewer',

  createToken: 'operator',
  revokeToken: 'operator',
  revokeAgent: 'operator',
  createCargo: 'operator',
  updateCargo: 'operator',
  removeCargo: 'operator',
  readContent: 'operator',
  cancelDelivery: 'operator',
  retryDeliveries: 'operator',
  pushToAgent: 'operator',

  removeAgent: 'admin',
  createAccessToken: 'admin',
  listAccessTokens: 'admin',
  revokeAccessToken: 'admin',
  setPolicy: 'admin',
  removePolicy: 'admin',
  updateBundle: 'admin',
  createWebhook: 'admin',
  listWebhooks: 'admin',
  showWebhook: 'admin',
  testWebhook: 'admin',
  replayWebhook: 'admin',
  removeWebhook: 'admin',
}

export function mayPerform(role: AdminRole, operation: AdminOperationName): boolean {
  return ADMIN_ROLES.indexOf(role) >= ADMIN_ROLES.indexOf(ROLE_NEEDED[operation])
}
