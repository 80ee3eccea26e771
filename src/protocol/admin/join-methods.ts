// What a host shows that a join rule is for it, by method: what the rule is told of it, and what it says of it. docs/protocol.md JNR.

import type { Static } from 'typebox'
import { PROOF_METHODS } from '../host-proof.ts'
import { nullable, time } from './operation.ts'
import { Type } from './plain-type.ts'

/** How a host shows that a rule is for it. */
export const JOIN_METHODS = ['token', 'jwt', ...PROOF_METHODS, 'tpm'] as const

export const CLAIM_RULES_MAX = 16

/** Of method jwt: which tokens of which issuer let a host in. */
const workloadFields = {
  /** `iss`, to the letter. */
  issuer: Type.String({ minLength: 1, maxLength: 512 }),
  audience: Type.String({ minLength: 1, maxLength: 512 }),
  claims: Type.Array(
    Type.Object({
      /** A name, or a JSON pointer (RFC 6901). */
      claim: Type.String({ minLength: 1, maxLength: 256 }),
      /** Any of these; `x*` is whatever begins with `x`. */
      values: Type.Array(Type.String({ minLength: 1, maxLength: 512 }), {
        minItems: 1,
        maxItems: 64,
      }),
    }),
    { minItems: 1, maxItems: CLAIM_RULES_MAX },
  ),
}
const claimName = Type.String({ minLength: 1, maxLength: 256 })
const keysUrl = Type.String({ minLength: 1, maxLength: 2048 })

const AdminWorkload = Type.Object({
  ...workloadFields,
  /** Has to be the hostname, or its first label. */
  hostname_claim: nullable(claimName),
  /** Null for where the issuer says. */
  jwks_url: nullable(keysUrl),
  /** How many keys the rule has itself. */
  jwks_keys: Type.Integer(),
})
export type AdminWorkload = Static<typeof AdminWorkload>

const jwt = Type.Object({
  ...workloadFields,
  hostname_claim: Type.Optional(claimName),
  jwks_url: Type.Optional(keysUrl),
  /** A JSON Web Key Set (RFC 7517), as text. */
  jwks: Type.Optional(Type.String({ minLength: 1, maxLength: 65_536 })),
})

export const CA_CHARACTERS_MAX = 65_536

/** Of method x5c: the CAs one of which has certified the host already. */
const x5c = Type.Object({
  /** Roots or intermediates, PEM; the use case says when it is long, as below. */
  ca: Type.String({ minLength: 1 }),
})
export const AdminAuthorities = Type.Object({
  authorities: Type.Array(
    Type.Object({
      subject: Type.String(),
      /** Of the DER, lower-case hex. */
      sha256: Type.String(),
      not_after: time,
    }),
  ),
})
export type AdminAuthorities = Static<typeof AdminAuthorities>

export const TPM_CA_CHARACTERS_MAX = 131_072
export const TPM_AUTHORITIES_MAX = 100
export const TPM_KEYS_MAX = 1000
export const TPM_LIST_BYTES_MAX = 262_144

/** Of method tpm: the CAs of makers, or a list; one of them. */
const tpm = Type.Object({
  /** Each is trusted for what it has signed itself; PEM. */
  ca: Type.Optional(Type.String({ minLength: 1, maxLength: TPM_CA_CHARACTERS_MAX })),
  keys: Type.Optional(
    Type.Array(
      Type.Object({
        /** Of the SubjectPublicKeyInfo of the endorsement key. */
        ek_sha256: Type.String({ pattern: '^[0-9a-f]{64}$' }),
        /** Without it, any that the pattern matches. */
        hostname: Type.Optional(Type.String({ minLength: 1, maxLength: 253 })),
      }),
      { minItems: 1, maxItems: TPM_KEYS_MAX },
    ),
  ),
})
const AdminTpms = Type.Object({
  ...AdminAuthorities.properties,
  /** Of the list. */
  keys: Type.Integer(),
  keys_with_hostname: Type.Integer(),
})
export type AdminTpms = Static<typeof AdminTpms>

export const KNOWN_HOSTS_CHARACTERS_MAX = 131_072

/** Of method ssh: which key is which host's, and which CAs certify hosts. */
const ssh = Type.Object({
  /** Lines as in known_hosts (sshd(8)). */
  known_hosts: Type.String({ minLength: 1 }),
})
export const AdminKnownHosts = Type.Object({
  /** How many keys of hosts. */
  keys: Type.Integer(),
  /** Fingerprints, as ssh-keygen prints them. */
  authorities: Type.Array(Type.String()),
  revoked: Type.Integer(),
  /** Lines of which nothing counts. */
  ignored: Type.Integer(),
})
export type AdminKnownHosts = Static<typeof AdminKnownHosts>

/** By method; each of them is there with its method alone. */
export const METHOD_REQUESTS = {
  jwt: Type.Optional(jwt),
  x5c: Type.Optional(x5c),
  tpm: Type.Optional(tpm),
  ssh: Type.Optional(ssh),
} as const

export const METHOD_VIEWS = {
  jwt: nullable(AdminWorkload),
  x5c: nullable(AdminAuthorities),
  tpm: nullable(AdminTpms),
  ssh: nullable(AdminKnownHosts),
} as const
export type ShownMethod = keyof typeof METHOD_VIEWS
