// Passkeys (WebAuthn): by one of them a person confirms an act of a session, where the hub asks for that. docs/protocol.md PKY.

import type { Static } from 'typebox'
import { type AdminOperation, listRequest, next, nullable, time } from './operation.ts'
import { Type } from './plain-type.ts'

/** The assertion of an authenticator for this very request, as JSON in base64url. */
export const CONFIRMATION_HEADER = 'cartorio-confirmation'
/** Room for the longest id of a credential, twice. */
export const CONFIRMATION_CHARACTERS_MAX = 6144

/** How long a challenge is good, and how long a browser waits for its authenticator. */
export const CHALLENGE_SECONDS = 120

const ATTESTATION_CHARACTERS_MAX = 4096
const CLIENT_DATA_CHARACTERS_MAX = 2048
/** An authenticator gives an id of 1,023 bytes at most. */
const CREDENTIAL_ID_CHARACTERS_MAX = 1364
const TRANSPORTS_MAX = 8

export const PASSKEY_LABEL_CHARACTERS_MAX = 64

/** Whether the session that asks may register a passkey: `open` by itself, `confirmed` with one that is there. */
export const REGISTRATION_STATES = ['off', 'open', 'late', 'confirmed', 'full'] as const

const base64url = (maxLength: number) =>
  Type.String({ minLength: 1, maxLength, pattern: '^[A-Za-z0-9_-]*$' })

export const AdminPasskey = Type.Object({
  /** The beginning of the SHA-256 of its credential id. */
  id: Type.String(),
  /** Under which it was registered. */
  name: Type.String(),
  /** What its owner calls it. */
  label: Type.String(),
  created_at: time,
  last_used_at: nullable(time),
})
export type AdminPasskey = Static<typeof AdminPasskey>

const credentialId = base64url(CREDENTIAL_ID_CHARACTERS_MAX)

/** RegistrationResponseJSON of WebAuthn, as far as the hub looks at it. */
export const RegisteredCredential = Type.Object({
  id: credentialId,
  rawId: credentialId,
  type: Type.Literal('public-key'),
  response: Type.Object({
    clientDataJSON: base64url(CLIENT_DATA_CHARACTERS_MAX),
    attestationObject: base64url(ATTESTATION_CHARACTERS_MAX),
    transports: Type.Optional(
      Type.Array(Type.String({ minLength: 1, maxLength: 32 }), { maxItems: TRANSPORTS_MAX }),
    ),
  }),
})
export type RegisteredCredential = Static<typeof RegisteredCredential>

/** For `PublicKeyCredential.parseCreationOptionsFromJSON` and `parseRequestOptionsFromJSON`. */
const webauthnOptions = Type.Record(Type.String(), Type.Unknown())

const name = Type.String({ minLength: 1, maxLength: 256 })

export const PASSKEY_OPERATIONS = {
  prepareConfirmation: {
    does: 'reads',
    method: 'POST',
    path: '/v1/admin/confirmations',
    role: 'viewer',
    isForSomeHosts: true,
    summary: 'What an authenticator has to sign so that a passkey confirms one request.',
    request: Type.Object({
      /** Of method, path with query, and body of the request. docs/protocol.md PKY-5. */
      request_sha256: Type.String({ pattern: '^[0-9a-f]{64}$' }),
    }),
    reply: Type.Object({ options: webauthnOptions }),
  },
  listPasskeys: {
    does: 'reads',
    method: 'GET',
    path: '/v1/admin/passkeys',
    role: 'viewer',
    isForSomeHosts: true,
    summary: 'The passkeys, newest first: the own ones unless the role is admin.',
    request: Type.Object({
      ...listRequest.properties,
      /** Of this name alone. */
      name: Type.Optional(name),
    }),
    reply: Type.Object({
      passkeys: Type.Array(AdminPasskey),
      next,
      /** `off` also where no session asks. */
      registration: Type.Enum([...REGISTRATION_STATES]),
    }),
  },
  preparePasskey: {
    does: 'reads',
    method: 'POST',
    path: '/v1/admin/passkeys/prepare',
    role: 'viewer',
    isForSomeHosts: true,
    summary: 'What an authenticator makes a passkey from, for the session that asks.',
    request: Type.Object({}),
    reply: Type.Object({ options: webauthnOptions }),
  },
  registerPasskey: {
    does: 'changes',
    method: 'POST',
    path: '/v1/admin/passkeys',
    role: 'viewer',
    isForSomeHosts: true,
    confirm: 'unless_first',
    summary: 'Keep the passkey that an authenticator made for the session that asks.',
    request: Type.Object({
      label: Type.String({ minLength: 1, maxLength: PASSKEY_LABEL_CHARACTERS_MAX }),
      credential: RegisteredCredential,
    }),
    reply: AdminPasskey,
  },
  removePasskeys: {
    does: 'changes',
    method: 'POST',
    path: '/v1/admin/passkeys/remove',
    role: 'viewer',
    isForSomeHosts: true,
    confirm: 'always',
    summary:
      'Remove a passkey, or all of a name: a session its own, everybody else with role admin.',
    request: Type.Object({
      name,
      /** One of them, by its id. */
      passkey: Type.Optional(Type.String({ minLength: 1, maxLength: 64 })),
    }),
    reply: Type.Object({
      /** Those that are gone. */
      passkeys: Type.Array(AdminPasskey),
    }),
  },
} as const satisfies Readonly<Record<string, AdminOperation>>
