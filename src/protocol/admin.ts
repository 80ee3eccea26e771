// The admin operations: what the CLI asks for, over the hub's Unix socket, its admin port or, when no hub runs, of the vault
// itself.
// Shapes are those of `svc … --json`. On socket and port each operation is an HTTP route; errors there are
// `{error, message, hint?, fields?}`: protocol/admin-errors.ts.

import { Type, type Static, type TSchema } from 'typebox'
import {
  ADMIN_ROUTES,
  ENTRY_PAGE_MAX,
  LIST_PAGE_MAX,
  PUSH_BYTES_MAX,
  SEALED_BASE64_CHARACTERS_MAX,
} from './admin-routes.ts'
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
} from './admin-webhooks.ts'
import { LIMITS } from './limits.ts'
import { nullable, time } from './shapes.ts'

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

export const AdminToken = Type.Object({
  /** The first 16 hex characters of the token's SHA-256: enough to name it, useless to use it. */
  id: Type.String(),
  hostname: Type.String(),
  role: Type.String(),
  expires_at: time,
  consumed_at: nullable(time),
  created_at: time,
})
export type AdminToken = Static<typeof AdminToken>

export const AdminCreatedToken = Type.Object({
  ...AdminToken.properties,
  /** The plaintext, shown this once. */
  token: Type.String(),
  /** Ready to paste on the host. */
  agent_command: Type.String(),
})
export type AdminCreatedToken = Static<typeof AdminCreatedToken>

export const AdminAgent = Type.Object({
  id: Type.String(),
  hostname: Type.String(),
  role: Type.String(),
  last_seen_at: nullable(time),
  last_poll_at: nullable(time),
  revoked_at: nullable(time),
  created_at: time,
  cert_serial: nullable(Type.String()),
  cert_not_after: nullable(time),
  /** One of its certificates should have been renewed by now. */
  atrasado: Type.Boolean(),
  /** Of its certificates that have not expired: how many the CA is yet to revoke, and how many it will not. */
  ca_revocations_waiting: Type.Integer(),
  ca_revocations_refused: Type.Integer(),
  ca_revocation_reason: nullable(Type.String()),
})
export type AdminAgent = Static<typeof AdminAgent>

/** A certificate that is revoked here and not at the CA. */
export const AdminCaRevocation = Type.Object({
  /** The SHA-256 of the certificate. */
  id: Type.String(),
  agente_id: Type.String(),
  hostname: Type.String(),
  serial: Type.String(),
  purpose: Type.String(),
  state: Type.Union([Type.Literal('waiting'), Type.Literal('refused')]),
  revoked_at: time,
  not_after: time,
  reason: nullable(Type.String()),
})
export type AdminCaRevocation = Static<typeof AdminCaRevocation>

export const AdminCargo = Type.Object({
  id: Type.String(),
  tipo: Type.String(),
  nome: Type.String(),
  versao: Type.Integer(),
  sans: Type.Array(Type.String()),
  created_at: time,
})
export type AdminCargo = Static<typeof AdminCargo>

export const AdminCreatedCargo = Type.Object({
  carga_id: Type.String(),
  entregas: Type.Array(
    Type.Object({ id: Type.String(), agente_id: Type.String(), hostname: Type.String() }),
  ),
})
export type AdminCreatedCargo = Static<typeof AdminCreatedCargo>

export const AdminDelivery = Type.Object({
  id: Type.String(),
  carga_id: Type.String(),
  agente_id: Type.String(),
  hostname: Type.String(),
  tipo: Type.String(),
  nome: Type.String(),
  versao: Type.Integer(),
  status: Type.String(),
  updated_at: time,
  erro: nullable(Type.String()),
})
export type AdminDelivery = Static<typeof AdminDelivery>

export const AdminPolicy = Type.Object({
  /** `*` for every role that has no row of its own. */
  role: Type.String(),
  nome: Type.String(),
  /** Seconds; null leaves it to the hub. */
  token_ttl_max: nullable(Type.Integer()),
  /** Seconds; null leaves it to the CA. */
  cert_ttl: nullable(Type.Integer()),
  /** `*` for any name. */
  sans_permitidos: Type.Array(Type.String()),
  /** Their ids. */
  cargas_automaticas: Type.Array(Type.String()),
})
export type AdminPolicy = Static<typeof AdminPolicy>

/** A carga with names that a politica forbids to agents that have it. */
export const AdminAffectedCargo = Type.Object({
  carga_id: Type.String(),
  nome: Type.String(),
  /** Those that are forbidden. */
  sans: Type.Array(Type.String()),
  /** Hostnames. */
  agentes: Type.Array(Type.String()),
})
export type AdminAffectedCargo = Static<typeof AdminAffectedCargo>

/** How a politica meets what is there already. */
export const AdminPolicyEffect = Type.Object({
  /** Their certificates are renewed no more. */
  cargas_afetadas: Type.Array(AdminAffectedCargo),
})
export type AdminPolicyEffect = Static<typeof AdminPolicyEffect>

/** Whom to seal for. */
export const AdminRecipient = Type.Object({
  id: Type.String(),
  hostname: Type.String(),
  role: Type.String(),
  /** Null for an agent that has told none: one of a version that cannot open sealed files. */
  recipient: nullable(Type.String()),
})
export type AdminRecipient = Static<typeof AdminRecipient>

export const AdminRecipients = Type.Object({
  agentes: Type.Array(AdminRecipient),
  /** Those of the carga besides its agents. */
  escrow: Type.Array(Type.String()),
  /** The most that a sealed file may hold. */
  content_bytes_max: Type.Integer(),
})
export type AdminRecipients = Static<typeof AdminRecipients>

export const AdminContent = Type.Object({
  carga_id: Type.String(),
  versao: Type.Integer(),
  sha256: Type.String(),
  /** Base64. */
  conteudo: Type.String(),
})
export type AdminContent = Static<typeof AdminContent>

/** The roots that are trusted now, and which agents trust others still. */
export const AdminBundle = Type.Object({
  numero: Type.Integer(),
  /** Since when they are in force. */
  created_at: time,
  roots: Type.Array(
    Type.Object({
      /** SHA-256 of the DER, lower-case hex. */
      fingerprint: Type.String(),
      subject: Type.String(),
      not_before: time,
      not_after: time,
      is_valid: Type.Boolean(),
      /** Whether the hub's own certificate leads to it; false of all when no hub runs. */
      is_hubs_own: Type.Boolean(),
      /** How many identities and delivered certificates in use lead to it. */
      certificados: Type.Integer(),
    }),
  ),
  /** Certificates in use of which no version noted where they lead. */
  certificados_unknown: Type.Integer(),
  /** Whether the root file holds others by now; null when nobody can tell. */
  file_differs: nullable(Type.Boolean()),
  /** How many agents there are, without the revoked ones. */
  agentes: Type.Integer(),
  /** Those that have not said that they trust exactly these roots. */
  pendentes: Type.Array(
    Type.Object({
      id: Type.String(),
      hostname: Type.String(),
      /** Of the set that it trusts; null for one that never said. */
      numero: nullable(Type.Integer()),
      /** A file on the host says whom to trust. */
      is_pinned: Type.Boolean(),
      erro: nullable(Type.String()),
      reported_at: nullable(time),
    }),
  ),
})
export type AdminBundle = Static<typeof AdminBundle>

/** `endangered`: who needed a root that is gone now. */
export const AdminUpdatedBundle = Type.Object({
  ...AdminBundle.properties,
  is_changed: Type.Boolean(),
  endangered: Type.Array(
    Type.Object({ hostname: Type.String(), reasons: Type.Array(Type.String()) }),
  ),
})
export type AdminUpdatedBundle = Static<typeof AdminUpdatedBundle>

export const AdminEntry = Type.Object({
  seq: Type.Integer(),
  id: Type.String(),
  /** Null for the hub's own acts. */
  agente_id: nullable(Type.String()),
  tipo_evento: Type.String(),
  payload: Type.Record(Type.String(), Type.Unknown()),
  /** The stored bytes, which the hash covers. */
  payload_text: Type.String(),
  entrega_id: nullable(Type.String()),
  request_id: nullable(Type.String()),
  timestamp: time,
  hash_anterior: Type.String(),
  hash_atual: Type.String(),
})
export type AdminEntry = Static<typeof AdminEntry>

export const AdminCertificateCounts = Type.Object({
  valid: Type.Integer(),
  atrasado: Type.Integer(),
  expired: Type.Integer(),
})
export type AdminCertificateCounts = Static<typeof AdminCertificateCounts>

export const AdminStatus = Type.Object({
  version: Type.String(),
  agentes: Type.Object({
    registered: Type.Integer(),
    atrasado: Type.Integer(),
    revoked: Type.Integer(),
  }),
  certificados: Type.Object({
    identity: AdminCertificateCounts,
    delivery: AdminCertificateCounts,
  }),
  /** For how long the hub may stay down; null when no host has a certificate that could end. */
  survival: nullable(
    Type.Object({
      seconds: Type.Number(),
      first: Type.Object({
        hostname: Type.String(),
        purpose: Type.Union([Type.Literal('identity'), Type.Literal('delivery')]),
        nome: nullable(Type.String()),
        not_after: time,
        atrasado: Type.Boolean(),
      }),
      following_1h: Type.Integer(),
      following_24h: Type.Integer(),
    }),
  ),
})
export type AdminStatus = Static<typeof AdminStatus>

const createTokenRequest = Type.Object({
  hostname: text,
  role: text,
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
const role = Type.String({ minLength: 1, maxLength: LIMITS.roleCharactersMax })
/** What is left out stays as it is. */
const setPolicyRequest = Type.Object({
  role,
  nome: Type.Optional(Type.String({ minLength: 1, maxLength: LIMITS.roleCharactersMax })),
  token_ttl_max: Type.Optional(nullable(Type.Integer({ minimum: 1 }))),
  cert_ttl: Type.Optional(nullable(Type.Integer({ minimum: 1 }))),
  sans_permitidos: Type.Optional(Type.Array(text, { maxItems: 100 })),
  cargas_automaticas: Type.Optional(Type.Array(text, { maxItems: 100 })),
  etag: Type.Optional(expectedTag),
})
const byRole = Type.Object({ role })
const removePolicyRequest = Type.Object({ role, etag: Type.Optional(expectedTag) })
const updateBundleRequest = Type.Object({
  /** Also when agents need a root that goes. */
  force: Type.Optional(Type.Boolean()),
  /** The number of the new set, greater than that of the last; also when the roots stay the same. */
  numero: Type.Optional(Type.Integer({ minimum: 2, maximum: 2 ** 31 - 1 })),
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
  revokeAgent: AdminAgent,
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
