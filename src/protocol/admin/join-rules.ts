// Join rules: what hosts enrol by without a token that somebody made for each of them.

import type { Static } from 'typebox'
import { ACCESS_TOKEN_NAME } from './admin-tokens.ts'
import {
  type AdminOperation,
  givenLabels,
  listRequest,
  next,
  nullable,
  text,
  time,
} from './operation.ts'
import { JOIN_METHODS, METHOD_REQUESTS, METHOD_VIEWS } from './join-methods.ts'
import { Type } from './plain-type.ts'
import { newRole } from './tokens.ts'
import { labelList } from './views.ts'

export const JOIN_TOKEN_PREFIX = 'svcj_'
export const JOIN_RULE_STATES = ['open', 'full', 'expired', 'ended'] as const
export const JOIN_HOSTS_MAX = 10_000
export const JOIN_TTL_MIN_SECONDS = 3600
export const JOIN_TTL_DEFAULT_SECONDS: number = 7 * 86_400
export const JOIN_TTL_MAX_SECONDS: number = 90 * 86_400
export const SILENT_MIN_SECONDS = 3600
export const SILENT_MAX_SECONDS: number = 365 * 86_400

export const AdminJoinRule = Type.Object({
  id: Type.String(),
  name: Type.String(),
  method: Type.Enum([...JOIN_METHODS]),
  /** What its hosts have to show; null for the other methods. */
  ...METHOD_VIEWS,
  role: Type.String(),
  pattern: Type.String(),
  labels: labelList,
  state: Type.Enum([...JOIN_RULE_STATES]),
  /** That joined, whatever became of them. */
  hosts: Type.Integer(),
  hosts_max: Type.Integer(),
  /** A host that joined and was silent for longer is revoked. */
  silent_seconds: nullable(Type.Integer()),
  created_at: time,
  expires_at: time,
  /** When somebody ended it; null for a rule that is open, full or expired. */
  ended_at: nullable(time),
})
export type AdminJoinRule = Static<typeof AdminJoinRule>

export const AdminJoinedHost = Type.Object({
  /** Of the token that the hub derived for the host, as the audit log has it in `token_id`. */
  id: Type.String(),
  hostname: Type.String(),
  joined_at: time,
  /** Null for a host that somebody removed, or that another token enrolled again. */
  agente_id: nullable(Type.String()),
  last_contact_at: nullable(time),
  revoked_at: nullable(time),
})
export type AdminJoinedHost = Static<typeof AdminJoinedHost>

/** By name, or by id: an ended rule may have the name of a newer one. */
const byName = Type.Object({ join_rule: Type.String({ minLength: 1, maxLength: 128 }) })

export const JOIN_RULE_OPERATIONS = {
  createJoinRule: {
    does: 'creates',
    method: 'POST',
    path: '/v1/admin/join-rules',
    role: 'operator',
    confirm: 'always',
    summary: 'Make a join rule; only this reply has its many-use token, where it has one.',
    request: Type.Object({
      name: Type.String({ pattern: ACCESS_TOKEN_NAME.source }),
      method: Type.Enum([...JOIN_METHODS]),
      /** What its hosts have to show: of its method alone; nothing for method token. */
      ...METHOD_REQUESTS,
      pattern: text,
      role: newRole,
      labels: Type.Optional(givenLabels),
      hosts_max: Type.Integer({ minimum: 1, maximum: JOIN_HOSTS_MAX }),
      ttl_seconds: Type.Optional(
        Type.Integer({ minimum: JOIN_TTL_MIN_SECONDS, maximum: JOIN_TTL_MAX_SECONDS }),
      ),
      silent_seconds: Type.Optional(
        Type.Integer({ minimum: SILENT_MIN_SECONDS, maximum: SILENT_MAX_SECONDS }),
      ),
    }),
    reply: Type.Object({
      ...AdminJoinRule.properties,
      /** The plaintext, shown this once; of method token alone. */
      token: Type.Optional(Type.String()),
      /** Ready to paste on each of the hosts. */
      agent_command: Type.String(),
      /** What is to be set before the command works; none when nothing is. */
      note: Type.Optional(Type.String()),
    }),
  },
  listJoinRules: {
    does: 'reads',
    method: 'GET',
    path: '/v1/admin/join-rules',
    role: 'viewer',
    summary: 'The join rules, newest first.',
    request: listRequest,
    reply: Type.Object({ join_rules: Type.Array(AdminJoinRule), next }),
  },
  showJoinRule: {
    does: 'reads',
    method: 'POST',
    path: '/v1/admin/join-rules/show',
    role: 'viewer',
    summary: 'A join rule, named by name or id.',
    request: byName,
    reply: AdminJoinRule,
  },
  listJoinedHosts: {
    does: 'reads',
    method: 'POST',
    path: '/v1/admin/join-rules/hosts',
    role: 'viewer',
    summary: 'The hosts that joined by a rule, oldest first.',
    request: Type.Object({ ...byName.properties, ...listRequest.properties }),
    reply: Type.Object({ hosts: Type.Array(AdminJoinedHost), next }),
  },
  endJoinRule: {
    does: 'changes',
    method: 'POST',
    path: '/v1/admin/join-rules/end',
    role: 'operator',
    summary: 'End a join rule: no more hosts join by it; those that joined stay.',
    request: byName,
    reply: AdminJoinRule,
  },
} as const satisfies Readonly<Record<string, AdminOperation>>
