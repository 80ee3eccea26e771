// The errors of admin operations: `{error, message, hint?, fields?}`. Those of the shell around them are WIRE_ERRORS.

import { Type, type Static } from 'typebox'

export const AdminErrorBody = Type.Object({
  error: Type.String({ pattern: '^[a-z][a-z0-9_]*$' }),
  /** For people; may change. */
  message: Type.String(),
  /** What to do about it. */
  hint: Type.Optional(Type.String()),
  /** Of a request that is not valid: each field that is wrong, and why. */
  fields: Type.Optional(Type.Record(Type.String(), Type.String())),
})
export type AdminErrorBody = Static<typeof AdminErrorBody>

/** Statuses of what operations refuse. A code that is not here is a request that makes no sense: 400. */
export const ADMIN_ERROR_STATUS: Readonly<Record<string, number>> = {
  reenroll_forbidden: 403,

  admin_token_not_found: 404,
  agent_not_found: 404,
  cargo_not_found: 404,
  delivery_not_found: 404,
  politica_not_found: 404,
  token_not_found: 404,
  webhook_not_found: 404,

  admin_token_ambiguous: 409,
  admin_token_exists: 409,
  agent_not_revoked: 409,
  agent_revoked: 409,
  bundle_in_use: 409,
  bundle_number: 409,
  cargo_not_automatic: 409,
  cargo_not_sealed: 409,
  delivery_over: 409,
  hostname_enrolled: 409,
  hostname_has_token: 409,
  idempotency_key_reused: 409,
  nome_taken: 409,
  recipient_changed: 409,
  recipients_incomplete: 409,
  replay_ahead: 409,
  server_certificate_root: 409,
  token_ambiguous: 409,
  token_consumed: 409,
  too_many_webhooks: 409,

  politica_changed: 412,
  versao_changed: 412,
}

export function statusOfAdminError(code: string): number {
  return ADMIN_ERROR_STATUS[code] ?? 400
}
