// What holds for the agents of a role, or for those that a selector matches.

import { LIMITS } from '../limits.ts'
import {
  type AdminOperation,
  listRequest,
  next,
  nullable,
  selectorText,
  text,
} from './operation.ts'
import { Type } from './plain-type.ts'
import { newRole } from './tokens.ts'
import { AdminPolicy, AdminPolicyEffect, AdminSelectorPolicy } from './views.ts'

const role = Type.String({ minLength: 1, maxLength: LIMITS.roleCharactersMax })
/** The ETag of the reply that the caller has seen, without its quotes; refused when the politica has another one. */
const expectedTag = text
/** False leaves `agentes` and `cargas_afetadas` empty: the hub looks at no agent. */
const areAgentsAsked = Type.Optional(Type.Boolean())
const changedPolicy = Type.Object({ ...AdminPolicy.properties, ...AdminPolicyEffect.properties })
const changedSelectorPolicy = Type.Object({
  ...AdminSelectorPolicy.properties,
  ...AdminPolicyEffect.properties,
})

/** What is left out stays as it is. */
const bounds = {
  token_ttl_max: Type.Optional(nullable(Type.Integer({ minimum: 1 }))),
  cert_ttl: Type.Optional(nullable(Type.Integer({ minimum: 1 }))),
  sans_permitidos: Type.Optional(Type.Array(text, { maxItems: 100 })),
  cargas_automaticas: Type.Optional(Type.Array(text, { maxItems: 100 })),
  /** Sets `cert_ttl` without asking the CA whether it signs such certificates. */
  untested: Type.Optional(Type.Boolean()),
  etag: Type.Optional(expectedTag),
}

export const POLICY_OPERATIONS = {
  setPolicy: {
    does: 'changes',
    method: 'POST',
    path: '/v1/admin/politicas',
    role: 'admin',
    version: 'politica',
    confirm: 'always',
    summary: 'Set the politica of a role, or, by `*`, of all roles without one.',
    request: Type.Object({
      role: newRole,
      nome: Type.Optional(role),
      ...bounds,
      reenroll: Type.Optional(Type.Boolean()),
    }),
    reply: changedPolicy,
  },
  listPolicies: {
    does: 'reads',
    method: 'GET',
    path: '/v1/admin/politicas',
    role: 'viewer',
    summary: 'The politicas, by role.',
    request: listRequest,
    reply: Type.Object({ politicas: Type.Array(AdminPolicy), next }),
  },
  showPolicy: {
    does: 'reads',
    method: 'POST',
    path: '/v1/admin/politicas/show',
    role: 'viewer',
    version: 'politica',
    summary: 'The politica of a role, and the agents to which it applies.',
    request: Type.Object({ role, agentes: areAgentsAsked }),
    reply: Type.Object({
      ...changedPolicy.properties,
      /** Hostnames of the agents that it holds for. */
      agentes: Type.Array(Type.String()),
    }),
  },
  removePolicy: {
    does: 'changes',
    method: 'POST',
    path: '/v1/admin/politicas/remove',
    role: 'admin',
    version: 'politica',
    confirm: 'always',
    summary: 'Remove the politica of a role.',
    request: Type.Object({ role, etag: Type.Optional(expectedTag) }),
    reply: changedPolicy,
  },
  setSelectorPolicy: {
    does: 'changes',
    method: 'POST',
    path: '/v1/admin/politicas/where',
    role: 'admin',
    version: 'politica',
    confirm: 'always',
    summary: 'Set a politica that narrows those of roles for the hosts that a selector matches.',
    request: Type.Object({
      nome: newRole,
      /** Only a politica that is there may do without. */
      where: Type.Optional(selectorText),
      ...bounds,
      reenroll: Type.Optional(nullable(Type.Boolean())),
    }),
    reply: changedSelectorPolicy,
  },
  listSelectorPolicies: {
    does: 'reads',
    method: 'GET',
    path: '/v1/admin/politicas/where',
    role: 'viewer',
    summary: 'The politicas with selectors, by name.',
    request: listRequest,
    reply: Type.Object({ politicas: Type.Array(AdminSelectorPolicy), next }),
  },
  showSelectorPolicy: {
    does: 'reads',
    method: 'POST',
    path: '/v1/admin/politicas/where/show',
    role: 'viewer',
    version: 'politica',
    summary: 'A politica with a selector, and the agents that match.',
    request: Type.Object({ nome: role, agentes: areAgentsAsked }),
    reply: Type.Object({
      ...changedSelectorPolicy.properties,
      /** Hostnames of the agents that match. */
      agentes: Type.Array(Type.String()),
    }),
  },
  removeSelectorPolicy: {
    does: 'changes',
    method: 'POST',
    path: '/v1/admin/politicas/where/remove',
    role: 'admin',
    version: 'politica',
    confirm: 'always',
    summary: 'Remove a politica with a selector.',
    request: Type.Object({ nome: role, etag: Type.Optional(expectedTag) }),
    reply: AdminSelectorPolicy,
  },
} as const satisfies Readonly<Record<string, AdminOperation>>
