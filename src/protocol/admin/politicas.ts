// What holds for the agents of a role.

import { LIMITS } from '../limits.ts'
import { type AdminOperation, listRequest, next, nullable, text } from './operation.ts'
import { Type } from './plain-type.ts'
import { newRole } from './tokens.ts'
import { AdminPolicy, AdminPolicyEffect } from './views.ts'

const role = Type.String({ minLength: 1, maxLength: LIMITS.roleCharactersMax })
/** The ETag of the reply that the caller has seen, without its quotes; refused when the politica has another one. */
const expectedTag = text
const changedPolicy = Type.Object({ ...AdminPolicy.properties, ...AdminPolicyEffect.properties })

export const POLICY_OPERATIONS = {
  setPolicy: {
    does: 'changes',
    method: 'POST',
    path: '/v1/admin/politicas',
    role: 'admin',
    version: 'politica',
    summary: 'Set the politica of a role, or, by `*`, of all roles without one.',
    /** What is left out stays as it is. */
    request: Type.Object({
      role: newRole,
      nome: Type.Optional(role),
      token_ttl_max: Type.Optional(nullable(Type.Integer({ minimum: 1 }))),
      cert_ttl: Type.Optional(nullable(Type.Integer({ minimum: 1 }))),
      sans_permitidos: Type.Optional(Type.Array(text, { maxItems: 100 })),
      cargas_automaticas: Type.Optional(Type.Array(text, { maxItems: 100 })),
      reenroll: Type.Optional(Type.Boolean()),
      /** Sets `cert_ttl` without asking the CA whether it signs such certificates. */
      untested: Type.Optional(Type.Boolean()),
      etag: Type.Optional(expectedTag),
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
    request: Type.Object({ role }),
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
    summary: 'Remove the politica of a role.',
    request: Type.Object({ role, etag: Type.Optional(expectedTag) }),
    reply: changedPolicy,
  },
} as const satisfies Readonly<Record<string, AdminOperation>>
