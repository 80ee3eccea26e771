// The admin operations: what the CLI asks for, over the hub's Unix socket, its admin port or, when no hub runs, of the vault
// itself.
// Shapes are those of `svc … --json`. On socket and port each operation is an HTTP route; errors there are
// `{error, message, hint?, fields?}`: protocol/admin/errors.ts.

import { Type, type Static, type TSchema } from 'typebox'
import {
  ADMIN_ROUTES,
  ENTRY_PAGE_MAX,
  LIST_PAGE_MAX,
  PUSH_BYTES_MAX,
  SEALED_BASE64_CHARACTERS_MAX,
} from './routes.ts'
import {
  AdminAccessToken,
  AdminCreatedAccessToken,
  CreateAccessTokenRequest,
  RevokeAccessTokenRequest,
} from './admin-tokens.ts'
import {
  ADMIN_WEBHOOK_REPLIES,
  createWebhookRequest,
  replayWebhookRequest,
  webhookByIdRequest,
} from './webhooks.ts'
import {
  AdminAgent,
  AdminBundle,
  AdminCaRevocation,
  AdminCargo,
  AdminContent,
  AdminCreatedCargo,
  AdminCreatedToken,
  AdminDelivery,
  AdminEntry,
  AdminPolicy,
  AdminPolicyEffect,
  AdminRecipients,
  AdminStatus,
  AdminToken,
  AdminUpdatedBundle,
} from './views.ts'
import { LIMITS } from '../limits.ts'
import { nullable } from '../shapes.ts'

export { ENTRY_PAGE_MAX }

const text = Type.String({ minLength: 1, maxLength: 512 })
const nothing = Type.Object({})
const listRequest = Type.Object({
  /** The `next` of the page before. */
  after: Type.Optional(text),
  limit: Type.Optional(Type.Integer({ minimum: 1, maximum: LIST_PAGE_MAX })),
})
/** What the caller thinks that it has; refused when it has another one by now. As `If-Match`. */
const expectedVersion = Type.Integer({ minimum: 0 })
/** The same of a politica, which has no versao but an ETag, here without its quotes. */
const expectedTag = text

const role = Type.String({ minLength: 1, maxLength: LIMITS.roleCharactersMax })
/** It comes into shells and terminals: no controls, no line breaks, nothing that turns the direction of writing. */
const newRole = Type.String({
  ...role,
  pattern: '^[^\\u0000-\\u001f\\u007f-\\u009f\\u200e\\u200f\\u2028-\\u202e\\u2066-\\u2069]*$',
})
const createTokenRequest = Type.Object({
  hostname: text,
  role: newRole,
  ttl_seconds: Type.Optional(Type.Integer({ minimum: 1 })),
  reenroll: Type.Optional(Type.Boolean()),
})
/** A file that was sealed, and for whom: refused when an agent has another recipient by now. */
const sealed = Type.Object({
  /** The age file, base64. */
  conteudo: Type.String({ minLength: 1, maxLength: SEALED_BASE64_CHARACTERS_MAX }),
  destinatarios: Type.Array(
    Type.Object({
      /** An agent's id. */
      agente: text,
      /** As `SHA256:…`. */
      fingerprint: text,
    }),
    { minItems: 1, maxItems: 10_000 },
  ),
  /** Recipients besides the agents. */
  escrow: Type.Array(Type.String({ maxLength: 2048 }), { maxItems: 10 }),
})
export type AdminSealed = Static<typeof sealed>

const createCargoRequest = Type.Object({
  tipo: text,
  nome: text,
  /** Hostnames or ids. */
  agentes: Type.Array(text, { maxItems: 10_000 }),
  roles: Type.Array(text, { maxItems: 100 }),
  sans: Type.Array(text, { maxItems: 100 }),
  /** For nobody yet: a politica gives it to the agents that are enrolled from then on. */
  unassigned: Type.Optional(Type.Boolean()),
  /** For tipo selado, whose agents are those that it is sealed for; `agentes` and `roles` are empty then. */
  selado: Type.Optional(sealed),
})
const updateCargoRequest = Type.Object({
  carga: text,
  /** In place of the names that it has; without them they stay. */
  sans: Type.Optional(Type.Array(text, { maxItems: 100 })),
  /** The next content of a carga of tipo selado, for exactly the agents that it has. */
  selado: Type.Optional(sealed),
  versao: Type.Optional(expectedVersion),
})
const listRecipientsRequest = Type.Object({
  /** The agents of this carga, or those named by the other two. */
  carga: Type.Optional(text),
  agentes: Type.Array(text, { maxItems: 10_000 }),
  roles: Type.Array(text, { maxItems: 100 }),
})
const removeCargoRequest = Type.Object({ carga: text, versao: Type.Optional(expectedVersion) })
const listEntriesRequest = Type.Object({
  after: Type.Optional(Type.Integer({ minimum: 0 })),
  limit: Type.Optional(Type.Integer({ minimum: 1, maximum: ENTRY_PAGE_MAX })),
  /** Only the newest `last` entries that match, still oldest first. */
  last: Type.Optional(Type.Integer({ minimum: 1, maximum: ENTRY_PAGE_MAX })),
  tipo: Type.Optional(text),
  /** Hostname or id. */
  agente: Type.Optional(text),
  since: Type.Optional(text),
})
const retryDeliveriesRequest = Type.Object({
  /** Without it every failed one. */
  entrega: Type.Optional(text),
})
const pushRequest = Type.Object({
  /** Hostname or id; in the path. */
  agente: text,
  acao: Type.Optional(Type.Union([Type.Literal('sync'), Type.Literal('rotate')])),
  /** In place of an acao, a file: its name and content, and its mode in octal. */
  nome: Type.Optional(text),
  conteudo: Type.Optional(Type.String({ maxLength: PUSH_BYTES_MAX })),
  modo: Type.Optional(text),
})
/** What is left out stays as it is. */
const setPolicyRequest = Type.Object({
  role: newRole,
  nome: Type.Optional(Type.String({ minLength: 1, maxLength: LIMITS.roleCharactersMax })),
  token_ttl_max: Type.Optional(nullable(Type.Integer({ minimum: 1 }))),
  cert_ttl: Type.Optional(nullable(Type.Integer({ minimum: 1 }))),
  sans_permitidos: Type.Optional(Type.Array(text, { maxItems: 100 })),
  cargas_automaticas: Type.Optional(Type.Array(text, { maxItems: 100 })),
  reenroll: Type.Optional(Type.Boolean()),
  etag: Type.Optional(expectedTag),
})
const byRole = Type.Object({ role })
const removePolicyRequest = Type.Object({ role, etag: Type.Optional(expectedTag) })
const updateBundleRequest = Type.Object({
  /** Also when agents need a root that goes. */
  force: Type.Optional(Type.Boolean()),
  /** The number of the new set, greater than that of the last; also when the roots stay the same. */
  numero: Type.Optional(Type.Integer({ minimum: 1, maximum: LIMITS.rootSetNumberNamedMax })),
  /** Counts anew, from 1 or from `numero`; agents of before 0.5.0 do not follow that. */
  nova_epoca: Type.Optional(Type.Boolean()),
})
const byName = Type.Object({ agente: text })

export const ADMIN_OPERATIONS = {
  createToken: { ...ADMIN_ROUTES.createToken, request: createTokenRequest },
  listTokens: { ...ADMIN_ROUTES.listTokens, request: listRequest },
  revokeToken: { ...ADMIN_ROUTES.revokeToken, request: Type.Object({ token: text }) },
  listAgents: { ...ADMIN_ROUTES.listAgents, request: listRequest },
  showAgent: { ...ADMIN_ROUTES.showAgent, request: byName },
  revokeAgent: { ...ADMIN_ROUTES.revokeAgent, request: byName },
  removeAgent: { ...ADMIN_ROUTES.removeAgent, request: byName },
  listCaRevocations: { ...ADMIN_ROUTES.listCaRevocations, request: listRequest },
  createCargo: { ...ADMIN_ROUTES.createCargo, request: createCargoRequest },
  listCargoes: { ...ADMIN_ROUTES.listCargoes, request: listRequest },
  updateCargo: { ...ADMIN_ROUTES.updateCargo, request: updateCargoRequest },
  removeCargo: { ...ADMIN_ROUTES.removeCargo, request: removeCargoRequest },
  listRecipients: { ...ADMIN_ROUTES.listRecipients, request: listRecipientsRequest },
  readContent: { ...ADMIN_ROUTES.readContent, request: Type.Object({ carga: text }) },
  cancelDelivery: { ...ADMIN_ROUTES.cancelDelivery, request: Type.Object({ entrega: text }) },
  retryDeliveries: { ...ADMIN_ROUTES.retryDeliveries, request: retryDeliveriesRequest },
  listDeliveries: { ...ADMIN_ROUTES.listDeliveries, request: listRequest },
  setPolicy: { ...ADMIN_ROUTES.setPolicy, request: setPolicyRequest },
  listPolicies: { ...ADMIN_ROUTES.listPolicies, request: listRequest },
  showPolicy: { ...ADMIN_ROUTES.showPolicy, request: byRole },
  removePolicy: { ...ADMIN_ROUTES.removePolicy, request: removePolicyRequest },
  showBundle: { ...ADMIN_ROUTES.showBundle, request: nothing },
  updateBundle: { ...ADMIN_ROUTES.updateBundle, request: updateBundleRequest },
  listEntries: { ...ADMIN_ROUTES.listEntries, request: listEntriesRequest },
  pushToAgent: { ...ADMIN_ROUTES.pushToAgent, request: pushRequest },
  createWebhook: { ...ADMIN_ROUTES.createWebhook, request: createWebhookRequest },
  listWebhooks: { ...ADMIN_ROUTES.listWebhooks, request: listRequest },
  showWebhook: { ...ADMIN_ROUTES.showWebhook, request: webhookByIdRequest },
  testWebhook: { ...ADMIN_ROUTES.testWebhook, request: webhookByIdRequest },
  replayWebhook: { ...ADMIN_ROUTES.replayWebhook, request: replayWebhookRequest },
  removeWebhook: { ...ADMIN_ROUTES.removeWebhook, request: webhookByIdRequest },
  showStatus: { ...ADMIN_ROUTES.showStatus, request: nothing },

  createAccessToken: { ...ADMIN_ROUTES.createAccessToken, request: CreateAccessTokenRequest },
  listAccessTokens: { ...ADMIN_ROUTES.listAccessTokens, request: listRequest },
  revokeAccessToken: { ...ADMIN_ROUTES.revokeAccessToken, request: RevokeAccessTokenRequest },
} as const

export type AdminOperationName = keyof typeof ADMIN_OPERATIONS

export type AdminRequest<Name extends AdminOperationName> = Static<
  (typeof ADMIN_OPERATIONS)[Name]['request']
>

const next = nullable(Type.String())

export const ADMIN_REPLIES = {
  createToken: AdminCreatedToken,
  listTokens: Type.Object({ tokens: Type.Array(AdminToken), next }),
  revokeToken: AdminToken,
  listAgents: Type.Object({ agentes: Type.Array(AdminAgent), next }),
  showAgent: Type.Object({
    ...AdminAgent.properties,
    /** Null for none. */
    recipient_fingerprint: nullable(Type.String()),
    entregas: Type.Array(AdminDelivery),
  }),
  revokeAgent: Type.Object({
    ...AdminAgent.properties,
    /** Open enrolment tokens that named its host: none of them brings it back. */
    tokens_ended: Type.Integer(),
  }),
  removeAgent: AdminAgent,
  listCaRevocations: Type.Object({ revocations: Type.Array(AdminCaRevocation), next }),
  createCargo: AdminCreatedCargo,
  updateCargo: Type.Object({ ...AdminCreatedCargo.properties, versao: Type.Integer() }),
  removeCargo: AdminCargo,
  listRecipients: AdminRecipients,
  readContent: AdminContent,
  cancelDelivery: AdminDelivery,
  retryDeliveries: Type.Object({ entregas: Type.Array(AdminDelivery) }),
  listCargoes: Type.Object({ cargas: Type.Array(AdminCargo), next }),
  listDeliveries: Type.Object({ entregas: Type.Array(AdminDelivery), next }),
  setPolicy: Type.Object({ ...AdminPolicy.properties, ...AdminPolicyEffect.properties }),
  listPolicies: Type.Object({ politicas: Type.Array(AdminPolicy), next }),
  showPolicy: Type.Object({
    ...AdminPolicy.properties,
    ...AdminPolicyEffect.properties,
    /** Hostnames of those that it holds for. */
    agentes: Type.Array(Type.String()),
  }),
  removePolicy: Type.Object({ ...AdminPolicy.properties, ...AdminPolicyEffect.properties }),
  showBundle: AdminBundle,
  updateBundle: AdminUpdatedBundle,
  listEntries: Type.Object({ eventos: Type.Array(AdminEntry), next: nullable(Type.Integer()) }),

  pushToAgent: Type.Object({
    entrega_id: Type.Optional(Type.String()),
    /** The agent held its stream, and is told at once. */
    online: Type.Boolean(),
  }),
  showStatus: AdminStatus,
  ...ADMIN_WEBHOOK_REPLIES,

  createAccessToken: AdminCreatedAccessToken,
  listAccessTokens: Type.Object({ admin_tokens: Type.Array(AdminAccessToken), next }),
  revokeAccessToken: AdminAccessToken,
} as const satisfies Readonly<Record<AdminOperationName, TSchema>>

export type AdminReplies = {
  [Name in AdminOperationName]: Static<(typeof ADMIN_REPLIES)[Name]>
}

/** One method an operation: the hub's service implements it, and so does the client of its socket. */
export type AdminOperations = {
  readonly [Name in AdminOperationName]: (
    request: AdminRequest<Name>,
  ) => Promise<AdminReplies[Name]>
}
