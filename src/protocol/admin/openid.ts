// Sign-in by an OpenID provider: three routes of the admin port that need no credentials, and are there only where a provider
// is set. docs/protocol.md OID.

import type { Static } from 'typebox'
import { nullable, time } from './operation.ts'
import { Type } from './plain-type.ts'
import { ADMIN_ROLES } from './roles.ts'

export const OPENID_ROUTES = {
  show: { method: 'GET', path: '/v1/admin/oidc' },
  start: { method: 'POST', path: '/v1/admin/oidc/start' },
  finish: { method: 'POST', path: '/v1/admin/oidc/finish' },
} as const

/** A provider's code may be a thousand characters long; all else is ours. */
export const OPENID_BODY_BYTES_MAX: number = 8 * 1024
/** Below `SVC_CONSOLE_URL`: where the provider sends a browser back to. */
export const OPENID_CONSOLE_PATH = '/sign-in'
/** Of `svc`, which listens at a port of 127.0.0.1. */
export const OPENID_SVC_PATH = '/callback'
/** From the start to the finish. */
export const OPENID_STATE_TTL_SECONDS = 600
/** Of the code that a page of the console gets. */
export const OPENID_SIGN_IN_CODE_TTL_SECONDS = 60

/** 32 bytes in base64url. */
const thirtyTwoBytes = Type.String({ pattern: '^[A-Za-z0-9_-]{43}$' })

export const OpenidSignIn = Type.Object({
  /** What the button says. */
  name: Type.String(),
  issuer: Type.String(),
  /** Whether a page of the console can sign in, or `svc` alone. */
  console: Type.Boolean(),
})
export type OpenidSignIn = Static<typeof OpenidSignIn>

export const OpenidStart = Type.Object({
  for: Type.Union([Type.Literal('console'), Type.Literal('svc')]),
  /** Where `svc` listens. */
  port: Type.Optional(Type.Integer({ minimum: 1, maximum: 65_535 })),
  /** The SHA-256 of the secret that stays with the caller. */
  key: thirtyTwoBytes,
})
export type OpenidStart = Static<typeof OpenidStart>

export const OpenidStarted = Type.Object({
  /** Of the provider, for a browser. */
  url: Type.String(),
  expires_at: time,
})
export type OpenidStarted = Static<typeof OpenidStarted>

export const OpenidFinish = Type.Object({
  /** These two as the provider sent them along. */
  code: Type.String({ minLength: 1, maxLength: 4096 }),
  state: Type.String({ minLength: 1, maxLength: 1024 }),
  secret: thirtyTwoBytes,
  /** RFC 9207, where the provider sent it. */
  iss: Type.Optional(Type.String({ maxLength: 1024 })),
})
export type OpenidFinish = Static<typeof OpenidFinish>

/** For a page of the console: it begins one session, by `POST /v1/admin/sessions`. */
export const OpenidCode = Type.Object({ code: Type.String() })
export type OpenidCode = Static<typeof OpenidCode>

/** For `svc`. */
export const OpenidToken = Type.Object({
  /** The plaintext, shown this once. */
  token: Type.String(),
  name: Type.String(),
  role: Type.Enum([...ADMIN_ROLES]),
  /** The selector of the hosts that it is for; null for all. */
  only: nullable(Type.String()),
  expires_at: time,
})
export type OpenidToken = Static<typeof OpenidToken>
