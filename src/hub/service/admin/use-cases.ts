// The use case of each admin operation: the one place of the hub that names them all.

import { cancelDelivery } from '../cargo/change-delivery.ts'
import { removeCargo, updateCargo } from '../cargo/change-cargo.ts'
import { createCargo } from '../cargo/create-cargo.ts'
import { listRecipients, readContent } from '../cargo/list-recipients.ts'
import { pushToAgent } from '../cargo/push-to-agent.ts'
import { retryDeliveries } from '../cargo/retry-deliveries.ts'
import { listPolicies, removePolicy, setPolicy, showPolicy } from '../policy/change-policy.ts'
import { showBundle, updateBundle } from '../roots/bundle-operations.ts'
import { createWebhook } from '../webhooks/create-webhook.ts'
import { replayWebhook } from '../webhooks/replay-webhook.ts'
import {
  listWebhooks,
  removeWebhook,
  showWebhook,
  testWebhook,
} from '../webhooks/webhook-operations.ts'
import { createAccessToken, listAccessTokens, revokeAccessToken } from './access-tokens.ts'
import type { UseCases } from './admin-context.ts'
import { createToken } from './create-token.ts'
import { listCargoes, listDeliveries, listEntries, listTokens } from './list-rows.ts'
import { removeAgent } from './remove-agent.ts'
import { revokeAgent } from './revoke-agent.ts'
import { revokeToken } from './revoke-token.ts'
import { showFeatures, showStatus } from './show-status.ts'
import { listAgents, listCaRevocations, showAgent } from './view-agents.ts'

export const USE_CASES: UseCases = {
  createToken,
  listTokens,
  revokeToken,
  listAgents,
  showAgent,
  revokeAgent,
  removeAgent,
  listCaRevocations,
  pushToAgent,
  createCargo,
  listCargoes,
  updateCargo,
  removeCargo,
  listRecipients,
  readContent,
  listDeliveries,
  cancelDelivery,
  retryDeliveries,
  setPolicy,
  listPolicies,
  showPolicy,
  removePolicy,
  showStatus,
  showFeatures,
  showBundle,
  updateBundle,
  listEntries,
  createWebhook,
  listWebhooks,
  showWebhook,
  testWebhook,
  replayWebhook,
  removeWebhook,
  createAccessToken,
  listAccessTokens,
  revokeAccessToken,
}
