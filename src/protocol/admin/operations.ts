// The admin operations: what the CLI asks for, over the hub's Unix socket, its admin port or, when no hub runs, of the vault
// itself. Each is one entry here, and one use case of the hub (hub/service/admin/use-cases.ts): no other table names them.
// Errors are `{error, message, hint?, fields?}`: errors.ts.

import type { Static } from 'typebox'
import { ACCESS_TOKEN_OPERATIONS } from './admin-tokens.ts'
import { AGENT_OPERATIONS } from './agentes.ts'
import { CARGO_OPERATIONS } from './cargas.ts'
import { CERTIFICATE_OPERATIONS } from './certificados.ts'
import { DECLARED_OPERATIONS } from './declared.ts'
import { DELIVERY_OPERATIONS } from './entregas.ts'
import { HUB_OPERATIONS } from './hub.ts'
import { HUBS_OPERATIONS } from './hubs.ts'
import { JOIN_RULE_OPERATIONS } from './join-rules.ts'
import { type AdminOperation, withRehearsal } from './operation.ts'
import { PASSKEY_OPERATIONS } from './passkeys.ts'
import { POLICY_OPERATIONS } from './politicas.ts'
import { ROLLOUT_OPERATIONS } from './rollouts.ts'
import { SESSION_OPERATIONS } from './sessions.ts'
import { SEARCH_OPERATIONS } from './search.ts'
import { TOKEN_OPERATIONS } from './tokens.ts'
import { WEBHOOK_OPERATIONS } from './webhooks.ts'

const OPERATIONS = {
  ...TOKEN_OPERATIONS,
  ...JOIN_RULE_OPERATIONS,
  ...AGENT_OPERATIONS,
  ...CERTIFICATE_OPERATIONS,
  ...CARGO_OPERATIONS,
  ...DELIVERY_OPERATIONS,
  ...POLICY_OPERATIONS,
  ...ROLLOUT_OPERATIONS,
  ...HUB_OPERATIONS,
  ...HUBS_OPERATIONS,
  ...WEBHOOK_OPERATIONS,
  ...ACCESS_TOKEN_OPERATIONS,
  ...SESSION_OPERATIONS,
  ...PASSKEY_OPERATIONS,
  ...DECLARED_OPERATIONS,
  ...SEARCH_OPERATIONS,
} as const

export type AdminOperationName = keyof typeof OPERATIONS

export type AdminRequest<Name extends AdminOperationName> = Static<
  (typeof OPERATIONS)[Name]['request']
>
export type AdminReplies = {
  [Name in AdminOperationName]: Static<(typeof OPERATIONS)[Name]['reply']>
}

/** The names of the operations that read, change or create. */
export type AdminNamesOf<Does extends AdminOperation['does']> = {
  [Name in AdminOperationName]: (typeof OPERATIONS)[Name]['does'] extends Does ? Name : never
}[AdminOperationName]

/** What a request may hold besides what its use case asks for is added here: `dry_run`. */
export const ADMIN_OPERATIONS = Object.fromEntries(
  Object.entries(OPERATIONS).map(([name, operation]) => [name, withRehearsal(operation)]),
) as Readonly<Record<AdminOperationName, AdminOperation>>

export const ADMIN_OPERATION_NAMES = Object.keys(OPERATIONS) as AdminOperationName[]

/** One method an operation. */
export type AdminOperations = {
  readonly [Name in AdminOperationName]: (
    request: AdminRequest<Name>,
  ) => Promise<AdminReplies[Name]>
}

/** All operations by one function, which is given the name of the operation. */
export function operationsBy(
  perform: (name: AdminOperationName, request: object) => Promise<unknown>,
): AdminOperations {
  const entries = ADMIN_OPERATION_NAMES.map((name) => [
    name,
    (request: object) => perform(name, request),
  ])
  return Object.fromEntries(entries) as AdminOperations
}

/** The same operations, each by `perform`, which may carry the known one out by `proceed`. */
export function wrapOperations(
  known: AdminOperations,
  perform: (
    name: AdminOperationName,
    request: object,
    proceed: (request: object) => Promise<object>,
  ) => Promise<unknown>,
): AdminOperations {
  const carryOut = known as unknown as Readonly<
    Record<AdminOperationName, (request: object) => Promise<object>>
  >
  return operationsBy((name, request) => perform(name, request, carryOut[name]))
}
