// Admin tokens, which open the admin port; in code AccessToken, since a token alone is one of enrolment.

import type { Static } from 'typebox'
import {
  type AdminOperation,
  listRequest,
  next,
  nothing,
  nullable,
  selectorText,
  time,
} from './operation.ts'
import { Type } from './plain-type.ts'
import { ADMIN_ROLES } from './roles.ts'

export const ACCESS_TOKEN_PREFIX = 'svca_'
export const ACCESS_TOKEN_NAME = /^[A-Za-z0-9][A-Za-z0-9._-]{0,63}$/
export const ACCESS_TOKEN_TTL_DEFAULT_SECONDS: number = 90 * 86_400
export const ACCESS_TOKEN_TTL_MAX_SECONDS: number = 365 * 86_400

const role = Type.Enum([...ADMIN_ROLES])

export const AdminAccessToken = Type.Object({
  /** The first 16 hex characters of the token's SHA-256: enough to name it, useless to use it. */
  id: Type.String(),
  name: Type.String(),
  role,
  created_at: time,
  expires_at: time,
  /** To the minute. */
  last_used_at: nullable(time),
  revoked_at: nullable(time),
  /** The selector of the hosts that it is for; null for all. */
  only: nullable(Type.String()),
  /** Whom an OpenID provider signed in; both are there for such a token alone. */
  issuer: Type.Optional(Type.String()),
  subject: Type.Optional(Type.String()),
})
export type AdminAccessToken = Static<typeof AdminAccessToken>

export const ACCESS_TOKEN_OPERATIONS = {
  createAccessToken: {
    does: 'creates',
    method: 'POST',
    path: '/v1/admin/admin-tokens',
    role: 'admin',
    confirm: 'always',
    summary: 'Make an admin token; only this reply has its text.',
    request: Type.Object({
      name: Type.String({ pattern: ACCESS_TOKEN_NAME.source }),
      role,
      /** A selector: the token sees and touches only hosts that match. */
      only: Type.Optional(selectorText),
      ttl_seconds: Type.Optional(
        Type.Integer({ minimum: 1, maximum: ACCESS_TOKEN_TTL_MAX_SECONDS }),
      ),
    }),
    reply: Type.Object({
      ...AdminAccessToken.properties,
      /** The plaintext, shown this once. */
      token: Type.String(),
    }),
  },
  listAccessTokens: {
    does: 'reads',
    method: 'GET',
    path: '/v1/admin/admin-tokens',
    role: 'admin',
    summary: 'The admin tokens, newest first.',
    request: listRequest,
    reply: Type.Object({ admin_tokens: Type.Array(AdminAccessToken), next }),
  },
  revokeAccessToken: {
    does: 'changes',
    method: 'POST',
    path: '/v1/admin/admin-tokens/revoke',
    role: 'admin',
    confirm: 'always',
    summary: 'End an admin token, named by id or, while it is good, by name.',
    request: Type.Object({
      /** Its name, or its id (eight characters or more). A person's name is all good tokens of the person. */
      token: Type.String({ minLength: 1, maxLength: 128 }),
    }),
    reply: AdminAccessToken,
  },
  showOwnToken: {
    does: 'reads',
    method: 'GET',
    path: '/v1/admin/admin-tokens/own',
    role: 'viewer',
    isForSomeHosts: true,
    summary: 'The admin token that asks, or of the session that asks.',
    request: nothing,
    reply: AdminAccessToken,
  },
  revokeOwnToken: {
    does: 'changes',
    method: 'POST',
    path: '/v1/admin/admin-tokens/revoke-own',
    role: 'viewer',
    isForSomeHosts: true,
    summary: 'End the admin token that asks; a session cannot.',
    request: nothing,
    reply: AdminAccessToken,
  },
} as const satisfies Readonly<Record<string, AdminOperation>>
