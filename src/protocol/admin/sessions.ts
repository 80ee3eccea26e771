// Sessions: how a page of the hub's console asks the admin port. One begins with an admin token, or with a code that is good once,
// and has two halves, both of which come with each request. docs/protocol.md SES.

import type { Static } from 'typebox'
import { ACCESS_TOKEN_NAME } from './admin-tokens.ts'
import { type AdminOperation, listRequest, next, nothing, nullable, time } from './operation.ts'
import { Type } from './plain-type.ts'
import { ADMIN_ROLES } from './roles.ts'

/** The half that the browser keeps and no page can read. Its prefix has the browser demand Secure, Path=/ and no Domain. */
export const SESSION_COOKIE = '__Host-cartorio'
/** The half that the page keeps for its origin, of which the port is a part; a cookie goes to all ports. */
export const SESSION_HEADER = 'cartorio-session'
/** Says that nobody asked for it: such a request does not put off the end of an idle session. */
export const UNATTENDED_HEADER = 'cartorio-unattended'

export const SESSION_COOKIE_PREFIX = 'svcc_'
export const SESSION_SECRET_PREFIX = 'svcs_'
export const SIGN_IN_CODE_PREFIX = 'svcl_'

export const SESSION_IDLE_SECONDS: number = 30 * 60
export const SESSION_TTL_MAX_SECONDS: number = 12 * 3600
export const SIGN_IN_CODE_TTL_MIN_SECONDS = 60
export const SIGN_IN_CODE_TTL_MAX_SECONDS = 600

/** Of a body that says nothing. */
export const SESSION_BODY_BYTES_MAX = 1024

/** Where the console reads a code, behind `#`, which a browser sends to nobody. */
export const SIGN_IN_PATH = '/console/sign-in'

const role = Type.Enum([...ADMIN_ROLES])

export const AdminSession = Type.Object({
  /** Enough of the hash of its cookie to name it; useless to use it. */
  id: Type.String(),
  /** Of its admin token: entries have its acts as `token:<name>`. */
  name: Type.String(),
  role,
  /** The selector of the hosts that it is for; null for all. */
  only: nullable(Type.String()),
  /** It was begun from there. */
  address: Type.String(),
  started_at: time,
  /** To the minute. */
  last_used_at: time,
  /** If nobody uses it until then. */
  idle_ends_at: time,
  ends_at: time,
})
export type AdminSession = Static<typeof AdminSession>

export const StartedSession = Type.Object({
  ...AdminSession.properties,
  /** The half of the page, shown this once. */
  secret: Type.String(),
})
export type StartedSession = Static<typeof StartedSession>

/** On the admin port alone, beside the operations: it takes a code for a token, and its reply sets a cookie. docs/protocol.md SES-2. */
export const SESSION_ROUTE = { method: 'POST', path: '/v1/admin/sessions' } as const

export const SESSION_OPERATIONS = {
  listSessions: {
    does: 'reads',
    method: 'GET',
    path: '/v1/admin/sessions',
    role: 'viewer',
    isForSomeHosts: true,
    summary: 'The open sessions, newest first; those of the own token unless the role is admin.',
    request: listRequest,
    reply: Type.Object({ sessions: Type.Array(AdminSession), next }),
  },
  showSession: {
    does: 'reads',
    method: 'GET',
    path: '/v1/admin/sessions/own',
    role: 'viewer',
    isForSomeHosts: true,
    summary: 'The session that asks.',
    request: nothing,
    reply: AdminSession,
  },
  endSession: {
    does: 'changes',
    method: 'POST',
    path: '/v1/admin/sessions/end',
    role: 'viewer',
    isForSomeHosts: true,
    summary: 'End a session: the one that asks, one of the own token, or any for role admin.',
    request: Type.Object({
      /** Its id, or eight characters of it or more; the session that asks unless it is there. */
      session: Type.Optional(Type.String({ minLength: 8, maxLength: 64 })),
    }),
    reply: AdminSession,
  },
  createSignInLink: {
    does: 'creates',
    method: 'POST',
    path: '/v1/admin/sign-in-links',
    role: 'admin',
    confirm: 'always',
    summary: 'Make a code that begins one session; only this reply has its text.',
    request: Type.Object({
      /** A good admin token, by its name, or the name of one that is made for the link. */
      name: Type.String({ pattern: ACCESS_TOKEN_NAME.source }),
      /** Makes a token of this role, of which nobody has the text. */
      role: Type.Optional(role),
      /** How long such a token lives. */
      ttl_seconds: Type.Optional(Type.Integer({ minimum: 60, maximum: SESSION_TTL_MAX_SECONDS })),
      /** How long the code is good. */
      valid_seconds: Type.Optional(
        Type.Integer({
          minimum: SIGN_IN_CODE_TTL_MIN_SECONDS,
          maximum: SIGN_IN_CODE_TTL_MAX_SECONDS,
        }),
      ),
    }),
    reply: Type.Object({
      /** The plaintext, shown this once. */
      code: Type.String(),
      name: Type.String(),
      role,
      expires_at: time,
      /** When the token ends, and with it each of its sessions. */
      token_expires_at: time,
      /** Of the admin port, as the hub knows it; null without a running hub that has one. */
      url: nullable(Type.String()),
    }),
  },
} as const satisfies Readonly<Record<string, AdminOperation>>
