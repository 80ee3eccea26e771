// The declared fleet: what files say that there is, as one document. docs/protocol.md DCL.

import type { Static, TObject, TProperties } from 'typebox'
import { LIMITS } from '../limits.ts'
import { ACCESS_TOKEN_NAME } from './admin-tokens.ts'
import { JOIN_METHODS } from './join-methods.ts'
import {
  JOIN_HOSTS_MAX,
  JOIN_TTL_MAX_SECONDS,
  JOIN_TTL_MIN_SECONDS,
  SILENT_MAX_SECONDS,
  SILENT_MIN_SECONDS,
} from './join-rules.ts'
import {
  type AdminOperation,
  givenLabels,
  listRequest,
  next,
  nullable,
  selectorText,
  text,
} from './operation.ts'
import { Type } from './plain-type.ts'
import { newRole } from './tokens.ts'

/** In the order in which they are made. */
export const DECLARED_KINDS = [
  'carga',
  'politica',
  'politica_seletor',
  'join_rule',
  'webhook',
  'admin_token',
  'agente',
] as const
export type DeclaredKind = (typeof DECLARED_KINDS)[number]

/** Of each kind in one document: what one commit bears. */
export const DECLARED_MAX = {
  cargas: 200,
  politicas: 100,
  politicas_seletor: 100,
  join_rules: 100,
  webhooks: 100,
  admin_tokens: 100,
  agentes: 1000,
} as const

export const MANAGER_DEFAULT = 'default'
const manager = Type.String({ pattern: ACCESS_TOKEN_NAME.source })

/** A field that this version does not know is refused: to leave it out in silence would be to do something else. */
function closed<Properties extends TProperties>(properties: Properties): TObject<Properties> {
  return Type.Object(properties, { additionalProperties: false })
}

function listOf<Properties extends TProperties>(
  items: TObject<Properties>,
  plural: keyof typeof DECLARED_MAX,
) {
  return Type.Optional(Type.Array(items, { maxItems: DECLARED_MAX[plural] }))
}

const policyBounds = {
  token_ttl_max: Type.Optional(nullable(Type.Integer({ minimum: 1 }))),
  cert_ttl: Type.Optional(nullable(Type.Integer({ minimum: 1 }))),
  sans_permitidos: Type.Optional(Type.Array(text, { maxItems: 100 })),
  /** By name or id. */
  cargas_automaticas: Type.Optional(Type.Array(text, { maxItems: 100 })),
  reenroll: Type.Optional(Type.Boolean()),
}

/** What is left out of an object is left alone. */
const declaration = {
  cargas: listOf(
    closed({
      nome: text,
      tipo: Type.Optional(text),
      where: Type.Optional(selectorText),
      sans: Type.Optional(Type.Array(text, { maxItems: 100 })),
      /** Of the sealed file, hex: what it should be; nobody is sent a file by a declaration. */
      sha256: Type.Optional(Type.String({ pattern: '^[0-9a-f]{64}$' })),
    }),
    'cargas',
  ),
  politicas: listOf(
    closed({
      role: newRole,
      nome: Type.Optional(Type.String({ minLength: 1, maxLength: LIMITS.roleCharactersMax })),
      ...policyBounds,
    }),
    'politicas',
  ),
  politicas_seletor: listOf(
    closed({ nome: newRole, where: Type.Optional(selectorText), ...policyBounds }),
    'politicas_seletor',
  ),
  join_rules: listOf(
    closed({
      name: Type.String({ pattern: ACCESS_TOKEN_NAME.source }),
      method: Type.Optional(Type.Enum([...JOIN_METHODS])),
      pattern: Type.Optional(text),
      role: Type.Optional(newRole),
      labels: Type.Optional(givenLabels),
      hosts_max: Type.Optional(Type.Integer({ minimum: 1, maximum: JOIN_HOSTS_MAX })),
      /** From when the rule was made. */
      ttl_seconds: Type.Optional(
        Type.Integer({ minimum: JOIN_TTL_MIN_SECONDS, maximum: JOIN_TTL_MAX_SECONDS }),
      ),
      silent_seconds: Type.Optional(
        nullable(Type.Integer({ minimum: SILENT_MIN_SECONDS, maximum: SILENT_MAX_SECONDS })),
      ),
    }),
    'join_rules',
  ),
  webhooks: listOf(
    closed({
      url: Type.String({ minLength: 1, maxLength: 4096 }),
      tipos: Type.Optional(
        Type.Array(Type.String({ minLength: 1, maxLength: 64 }), { maxItems: 32 }),
      ),
      /** Null for entries about all hosts, and about none. */
      where: Type.Optional(nullable(selectorText)),
    }),
    'webhooks',
  ),
  admin_tokens: listOf(
    closed({ name: Type.String({ pattern: ACCESS_TOKEN_NAME.source }), only: selectorText }),
    'admin_tokens',
  ),
  agentes: listOf(closed({ hostname: text, labels: givenLabels }), 'agentes'),
}
const FleetDeclaration = Type.Object(declaration)
export type FleetDeclaration = Static<typeof FleetDeclaration>

const asked = {
  ...declaration,
  /** In whose name: it owns what it declares. */
  manager,
  /** What it owns and no longer declares goes. */
  prune: Type.Optional(Type.Boolean()),
  /** Fields that another manager owns become its own. */
  take_over: Type.Optional(Type.Boolean()),
}

const kind = Type.Enum([...DECLARED_KINDS])

const fieldChange = Type.Object({
  field: Type.String(),
  /** Null also for what is not there. */
  before: Type.Unknown(),
  /** Null also for what goes. */
  after: Type.Unknown(),
  /** Another manager that owns it: the change is refused without `take_over`. */
  owner: nullable(Type.String()),
  /** What an operator has to do, where no apply can. */
  todo: nullable(Type.String()),
})

export const FLEET_ACTIONS = ['create', 'update', 'remove', 'own', 'todo'] as const

export const AdminFleetChange = Type.Object({
  kind,
  name: Type.String(),
  /** `own`: only who owns it becomes another; `todo`: no apply can do it. */
  action: Type.Enum([...FLEET_ACTIONS]),
  fields: Type.Array(fieldChange),
  /** The fields that become the manager's. */
  takes: Type.Array(Type.String()),
  /** The object itself does. */
  takes_object: Type.Boolean(),
  /** The fields that become nobody's. */
  releases: Type.Array(Type.String()),
  todo: nullable(Type.String()),
})
export type AdminFleetChange = Static<typeof AdminFleetChange>

const planned = {
  /** Of all that the plan looked at. */
  etag: Type.String(),
  changes: Type.Array(AdminFleetChange),
  /** What the manager owns, and no file declares: `prune` removes it. `field` is null for the whole object. */
  unlisted: Type.Array(Type.Object({ kind, name: Type.String(), field: nullable(Type.String()) })),
}
export const AdminFleetPlan = Type.Object(planned)
export type AdminFleetPlan = Static<typeof AdminFleetPlan>

export const AdminOwnedField = Type.Object({
  id: Type.String(),
  kind,
  name: Type.String(),
  /** Null for the object itself. */
  field: nullable(Type.String()),
  manager: Type.String(),
})
export type AdminOwnedField = Static<typeof AdminOwnedField>

export const DECLARED_OPERATIONS = {
  planFleet: {
    does: 'reads',
    method: 'POST',
    path: '/v1/admin/fleet/plan',
    role: 'viewer',
    version: 'etag',
    summary: 'What is different between a declared fleet and the present one.',
    request: Type.Object(asked),
    reply: AdminFleetPlan,
  },
  applyFleet: {
    does: 'creates',
    method: 'POST',
    path: '/v1/admin/fleet/apply',
    role: 'admin',
    confirm: 'always',
    summary: 'Make the fleet as it is declared, all or nothing; only this reply has new secrets.',
    request: Type.Object({
      ...asked,
      /** Of the plan that the caller has seen; refused when what it looked at has changed. */
      etag: Type.Optional(Type.String({ minLength: 1, maxLength: 64 })),
      /** Of the files, hex, for the log. */
      files_sha256: Type.String({ pattern: '^[0-9a-f]{64}$' }),
      /** Sets each `cert_ttl` without asking the CA whether it signs such certificates. */
      untested: Type.Optional(Type.Boolean()),
    }),
    reply: Type.Object({
      ...planned,
      /** Each shown this once. */
      join_tokens: Type.Array(
        Type.Object({
          name: Type.String(),
          token: Type.String(),
          agent_command: Type.String(),
          note: Type.Optional(Type.String()),
        }),
      ),
      webhook_secrets: Type.Array(
        Type.Object({ id: Type.String(), url: Type.String(), secret: Type.String() }),
      ),
    }),
  },
  listOwnedFields: {
    does: 'reads',
    method: 'GET',
    path: '/v1/admin/fleet/owners',
    role: 'viewer',
    summary: 'Which manager owns which object and which field, oldest first.',
    request: listRequest,
    reply: Type.Object({ owners: Type.Array(AdminOwnedField), next }),
  },
} as const satisfies Readonly<Record<string, AdminOperation>>
