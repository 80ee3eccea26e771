// What the OpenAPI description says of the admin operations, besides their schemas.

import type { AdminOperationName } from './admin/operations.ts'

export const OPERATION_SUMMARIES: Readonly<Record<AdminOperationName, string>> = {
  createToken: 'Make a one-time enrolment token for one host; its text is in this reply alone.',
  listTokens: 'The enrolment tokens, newest first.',
  revokeToken: 'End an enrolment token, named by id or by the hostname of an open one.',
  listAgents: 'The agents, by hostname.',
  showAgent: 'One agent, by hostname or id, and its deliveries.',
  revokeAgent: 'Refuse an agent from its next request on.',
  removeAgent: 'Take a revoked agent out of the lists; its history stays.',
  createCargo: 'Make a carga, and one entrega of it for each of its agents.',
  listCargoes: 'The cargas, oldest first.',
  updateCargo: 'The next versao of a carga, with fresh entregas.',
  removeCargo: 'End a carga; its entregas are cancelled.',
  listRecipients: 'Whom to seal for: the agents of a carga, or those named, and the escrow.',
  readContent: 'The sealed file of a carga, as it is kept.',
  cancelDelivery: 'Cancel one entrega; what is on the host stays.',
  retryDeliveries: 'A new entrega in the place of one, or of every failed one.',
  listDeliveries: 'The entregas, oldest first.',
  listEntries: 'Entries of the audit log, oldest first.',

  listCaRevocations: 'Certificates that are revoked here and not yet at the CA.',
  pushToAgent: 'Tell an agent to ask now or to renew, or push a small text file to it.',

  setPolicy: 'Set the politica of a role, or of all others by `*`.',
  listPolicies: 'The politicas, by role.',
  showPolicy: 'The politica of a role, and for whom it holds.',
  removePolicy: 'Remove the politica of a role.',
  showStatus: 'How many hosts and certificates there are, and for how long the hub may stay down.',

  showBundle: 'The roots that are trusted, and which agents do not trust them yet.',
  updateBundle: 'Take up the root file anew, as the next set.',

  createWebhook: 'Make a webhook; its secret is in this reply alone.',
  listWebhooks: 'The webhooks, oldest first, and how each is doing.',
  showWebhook: 'One webhook, and what was given up for it.',
  testWebhook: 'Send a test message now, and say how it went.',
  replayWebhook: 'Send again, from an entry on or what was given up.',
  removeWebhook: 'Remove a webhook.',

  createAccessToken: 'Make an admin token; its text is in this reply alone.',
  listAccessTokens: 'The admin tokens, newest first.',
  revokeAccessToken: 'End an admin token, named by id or, while it is good, by name.',
}
