import type { DeclaredKind } from '../../../../protocol/admin/declared.ts'
import type { Declarable } from './declarable.ts'
import { declaredAccessTokens } from './declared-access-tokens.ts'
import { declaredCargoes } from './declared-cargoes.ts'
import { declaredJoinRules } from './declared-join-rules.ts'
import { declaredLabels } from './declared-labels.ts'
import { declaredPolicies } from './declared-policies.ts'
import { declaredSelectorPolicies } from './declared-selector-policies.ts'
import { declaredWebhooks } from './declared-webhooks.ts'

/** In the order in which a plan is done: what a kind refers to stands before it. */
export const DECLARABLES: readonly Declarable[] = [
  declaredCargoes,
  declaredPolicies,
  declaredSelectorPolicies,
  declaredJoinRules,
  declaredWebhooks,
  declaredAccessTokens,
  declaredLabels,
]

/** What only role admin may list. */
export const ADMIN_KINDS: ReadonlySet<DeclaredKind> = new Set(['webhook', 'admin_token'])
