// What a host shows in place of a token when it has a key that the hub's operators trust already: a statement of who asks what, and
// the proof that the holder of the key made it. It is the `token` of an enrolment. docs/protocol.md JNR-23.

import { Type, type Static } from 'typebox'
import { LIMITS } from './limits.ts'

/** The methods of join rules whose hosts show such a proof. */
export const PROOF_METHODS = ['x5c', 'ssh'] as const
export type ProofMethod = (typeof PROOF_METHODS)[number]

export const STATEMENT_LIFETIME_SECONDS_MAX = 300
export const STATEMENT_HUBS_MAX = 4

export const HostStatement = Type.Object(
  {
    /** The names by which the host knows the hub: a proof for one hub is of no use at another. */
    hubs: Type.Array(Type.String({ maxLength: LIMITS.hostnameCharactersMax }), {
      minItems: 1,
      maxItems: STATEMENT_HUBS_MAX,
    }),
    hostname: Type.String({ maxLength: LIMITS.hostnameCharactersMax }),
    role: Type.String({ maxLength: LIMITS.roleCharactersMax }),
    /** Of the CSR, DER; hex. A copied proof is of no use without the key of the CSR. */
    csr_sha256: Type.String({ pattern: '^[0-9a-f]{64}$' }),
    /** Seconds since 1970. */
    iat: Type.Integer({ minimum: 0, maximum: 1e11 }),
    exp: Type.Integer({ minimum: 0, maximum: 1e11 }),
  },
  { additionalProperties: false },
)
export type HostStatement = Static<typeof HostStatement>

/** `typ` of the JWS of method x5c. */
export const CERTIFICATE_PROOF_TYPE = 'svc-enroll+jwt'
/** Of the SSHSIG of method ssh: no signature that was made for anything else counts. */
export const SSH_PROOF_NAMESPACE = 'enroll@cartorio'

const PREFIX = 'svcp'

/** Parts in base64url, the form of which is that of the method. */
export function formatProof(method: ProofMethod, parts: readonly string[]): string {
  return [PREFIX, method, ...parts].join('.')
}

export interface ProofText {
  readonly method: ProofMethod
  readonly parts: readonly string[]
}

/** Undefined for any other token. */
export function splitProof(text: string): ProofText | undefined {
  if (!text.startsWith(`${PREFIX}.`) || text.length > LIMITS.tokenCharactersMax) return undefined
  const [, said, ...parts] = text.split('.')
  const method = PROOF_METHODS.find((each) => each === said)
  const isPlain = parts.every((part) => /^[A-Za-z0-9_-]+$/.test(part))
  return method === undefined || !isPlain ? undefined : { method, parts }
}

export function isProof(text: string): boolean {
  return text.startsWith(`${PREFIX}.`)
}
