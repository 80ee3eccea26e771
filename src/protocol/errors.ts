// Every code that a port itself can answer, with its status. Bodies are exactly `{"error": "<code>"}` on an agent's port;
// the admin port says more (protocol/admin/errors.ts).

interface WireError {
  readonly status: number
  /** When it is answered; the text of docs/reference/errors.md. */
  readonly when: string
}

export const WIRE_ERRORS = {
  json_invalid: { status: 400, when: 'The body is not JSON.' },
  request_invalid: { status: 400, when: 'A field is missing, has the wrong type, or is too long.' },
  csr_invalid: {
    status: 400,
    when: 'The CSR does not parse, its self-signature is wrong, or its key is not P-256, P-384, Ed25519 or RSA of 2048 to 4096 bits.',
  },
  token_not_found: { status: 401, when: 'No enrolment token has this SHA-256.' },
  token_consumed: { status: 401, when: 'Somebody has already used the enrolment token.' },
  token_expired: {
    status: 401,
    when: 'The enrolment token is past its expiry, or its join rule has ended, has expired or is full.',
  },
  agent_not_registered: {
    status: 401,
    when: 'The certificate’s CN matches no agent, or the certificate is not an identity that the hub obtained for that agent.',
  },
  agent_revoked: {
    status: 401,
    when: 'The agent is revoked, or this certificate of the agent is.',
  },
  certificate_expired: {
    status: 401,
    when: 'The certificate expired while its connection was open.',
  },
  certificate_superseded: {
    status: 401,
    when: 'A newer identity of the same agent has been in use for over a minute.',
  },
  recovery_refused: { status: 401, when: 'The hub does not recover this expired identity.' },
  admin_token_invalid: {
    status: 401,
    when: 'The request has no admin token, or its admin token is unknown, expired or revoked.',
  },
  session_ended: {
    status: 401,
    when: 'Both halves of the session came along, and the session has ended.',
  },
  sign_in_code_used: { status: 401, when: 'The sign-in code has begun a session already.' },
  sign_in_code_expired: { status: 401, when: 'The sign-in code is past its expiry.' },
  sign_in_state_invalid: {
    status: 401,
    when: 'The sign-in did not begin here, was begun over ten minutes ago, or was finished before.',
  },
  sign_in_provider_refused: {
    status: 401,
    when: 'The OpenID provider refused the sign-in, or what it answered is not valid.',
  },
  hostname_mismatch: { status: 403, when: 'The token is for another hostname.' },
  role_mismatch: { status: 403, when: 'The token is for another role.' },
  csr_cn_mismatch: {
    status: 403,
    when: 'The CSR asks for a name that is not the agent’s own hostname.',
  },
  role_insufficient: {
    status: 403,
    when: 'The role of the admin token does not allow this operation.',
  },
  token_bounded: {
    status: 403,
    when: 'The admin token is bounded to some hosts, and this operation is about more than these.',
  },
  sign_in_no_role: {
    status: 403,
    when: 'The OpenID provider signed the person in, and `SVC_OIDC_ROLES` has no role for the person.',
  },
  sign_in_name_invalid: {
    status: 403,
    when: 'What the OpenID provider calls the person cannot be a name here, or is an unverified address.',
  },
  route_not_found: { status: 404, when: 'There is no such route on this port.' },
  entrega_not_found: {
    status: 404,
    when: 'The entrega is unknown, cancelled, or another agent’s.',
  },
  blob_not_found: {
    status: 404,
    when: 'The carga has no content for this agent: it is unknown, removed, or has no live entrega for it.',
  },
  method_not_allowed: {
    status: 405,
    when: 'The route exists with other methods; `Allow` lists them.',
  },
  request_timeout: { status: 408, when: 'The request did not arrive in time.' },
  agent_already_enrolled: {
    status: 409,
    when: 'Another token enrolled the host after this token was made; the hub does not consume this token.',
  },
  sign_in_name_taken: {
    status: 409,
    when: 'Another person of the OpenID provider is signed in under this name.',
  },
  request_id_conflict: { status: 409, when: 'The same `request_id` came with a different event.' },
  body_too_large: { status: 413, when: 'The body is over its limit.' },
  unsupported_media_type: { status: 415, when: 'The body is not `application/json`.' },
  rate_limited: { status: 429, when: 'Too many requests; `Retry-After` says when to try again.' },
  internal_error: {
    status: 500,
    when: 'The hub has a fault; its log has the details under the reply’s `X-Request-Id`.',
  },
  ca_failed: { status: 502, when: 'The hub could not obtain a usable certificate from the CA.' },
  sign_in_provider_unavailable: {
    status: 503,
    when: 'The OpenID provider does not answer; `Retry-After` says when to try again.',
  },
  unavailable: {
    status: 503,
    when: 'The hub is shutting down, overloaded, or cannot store; `Retry-After` says when to try again.',
  },
} as const satisfies Readonly<Record<string, WireError>>

export type WireErrorCode = keyof typeof WIRE_ERRORS
