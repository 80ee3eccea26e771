// Enrolment tokens.

import { LIMITS } from '../limits.ts'
import { type AdminOperation, givenLabels, listRequest, next, text } from './operation.ts'
import { Type } from './plain-type.ts'
import { AdminCreatedToken, AdminToken } from './views.ts'

/** It comes into shells and terminals: no controls, no line breaks, nothing that turns the direction of writing. */
export const newRole = Type.String({
  minLength: 1,
  maxLength: LIMITS.roleCharactersMax,
  pattern: '^[^\\u0000-\\u001f\\u007f-\\u009f\\u200e\\u200f\\u2028-\\u202e\\u2066-\\u2069]*$',
})

export const TOKEN_OPERATIONS = {
  createToken: {
    does: 'creates',
    method: 'POST',
    path: '/v1/admin/tokens',
    role: 'operator',
    /** It takes over a host that is enrolled, or that was revoked. */
    confirm: { ifTrue: 'reenroll' },
    summary: 'Make a one-time enrolment token for one host; only this reply has its text.',
    request: Type.Object({
      hostname: text,
      role: newRole,
      /** What the host gets when it enrols. */
      labels: Type.Optional(givenLabels),
      ttl_seconds: Type.Optional(Type.Integer({ minimum: 1 })),
      reenroll: Type.Optional(Type.Boolean()),
    }),
    reply: AdminCreatedToken,
  },
  listTokens: {
    does: 'reads',
    method: 'GET',
    path: '/v1/admin/tokens',
    role: 'viewer',
    summary: 'The enrolment tokens, newest first.',
    request: listRequest,
    reply: Type.Object({ tokens: Type.Array(AdminToken), next }),
  },
  revokeToken: {
    does: 'changes',
    method: 'POST',
    path: '/v1/admin/tokens/revoke',
    role: 'operator',
    summary: 'End an enrolment token, named by id or, while it is open, by hostname.',
    request: Type.Object({ token: text }),
    reply: AdminToken,
  },
} as const satisfies Readonly<Record<string, AdminOperation>>
