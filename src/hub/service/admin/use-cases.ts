// The use case of each admin operation: cargo and webhooks name their own, the rest is named here. The type demands all.

import { CARGO_USE_CASES } from '../cargo/cargo-use-cases.ts'
import { labelAgents } from '../labels/label-agents.ts'
import { listPolicies, removePolicy, setPolicy, showPolicy } from '../policy/change-policy.ts'
import {
  listSelectorPolicies,
  removeSelectorPolicy,
  setSelectorPolicy,
  showSelectorPolicy,
} from '../policy/change-selector-policy.ts'
import { showBundle, signBundle, updateBundle } from '../roots/bundle-operations.ts'
import { ROLLOUT_USE_CASES } from '../rollout/rollout-use-cases.ts'
import { WEBHOOK_USE_CASES } from '../webhooks/webhook-use-cases.ts'
import { createAccessToken, listAccessTokens, revokeAccessToken } from './access-tokens.ts'
import { revokeOwnToken, showOwnToken } from './own-token.ts'
import { applyFleet } from './declared/apply-declared.ts'
import { listOwnedFields, planFleet } from './declared/plan-declared.ts'
import { archiveEntries } from './archive-entries.ts'
import type { UseCases } from './admin-context.ts'
import {
  createJoinRule,
  endJoinRule,
  listJoinedHosts,
  listJoinRules,
  showJoinRule,
} from './join-rules.ts'
import { createToken } from './create-token.ts'
import { PASSKEY_USE_CASES } from './passkeys/passkey-use-cases.ts'
import { SESSION_USE_CASES } from './sessions/session-use-cases.ts'
import { showExamination } from './show-examination.ts'
import { findDeliveries } from './find-deliveries.ts'
import { keepCosigned } from './keep-cosigned.ts'
import { listRecords } from './list-records.ts'
import { showBlockProofs } from './show-block-proofs.ts'
import { showCheckpoint } from './show-checkpoint.ts'
import { listAgents } from './list-agents.ts'
import { listCertificates } from './list-certificates.ts'
import { listEntries } from './list-entries.ts'
import { listSegments } from './list-segments.ts'
import { listCargoes, listDeliveries, listTokens } from './list-rows.ts'
import { showRangeProof } from './show-range-proof.ts'
import { listHubs, removeHub } from './manage-hubs.ts'
import { removeAgent } from './remove-agent.ts'
import { revokeAgent } from './revoke-agent.ts'
import { revokeToken } from './revoke-token.ts'
import { search } from './search.ts'
import { showAgent } from './show-agent.ts'
import { showCargo, showDelivery } from './show-artefacts.ts'
import { showFeatures, showStatus } from './show-status.ts'
import { summarizeFleet } from './summary/summarize-fleet.ts'
import { listCaRevocations } from './view-agents.ts'

export const USE_CASES: UseCases = {
  ...CARGO_USE_CASES,
  ...WEBHOOK_USE_CASES,
  ...ROLLOUT_USE_CASES,
  ...SESSION_USE_CASES,
  ...PASSKEY_USE_CASES,
  createJoinRule,
  listJoinRules,
  showJoinRule,
  listJoinedHosts,
  endJoinRule,
  createToken,
  listTokens,
  revokeToken,
  listAgents,
  showAgent,
  labelAgents,
  revokeAgent,
  removeAgent,
  listCaRevocations,
  listCertificates,
  listCargoes,
  listDeliveries,
  findDeliveries,
  showCargo,
  showDelivery,
  setPolicy,
  listPolicies,
  showPolicy,
  removePolicy,
  setSelectorPolicy,
  listSelectorPolicies,
  showSelectorPolicy,
  removeSelectorPolicy,
  listHubs,
  removeHub,
  showStatus,
  summarizeFleet,
  showFeatures,
  showExamination,
  showBundle,
  updateBundle,
  signBundle,
  listEntries,
  listRecords,
  showBlockProofs,
  listSegments,
  archiveEntries,
  showRangeProof,
  showCheckpoint,
  keepCosigned,
  planFleet,
  applyFleet,
  listOwnedFields,
  search,
  createAccessToken,
  listAccessTokens,
  revokeAccessToken,
  showOwnToken,
  revokeOwnToken,
}
