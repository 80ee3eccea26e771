import type { JSONWebKeySet } from 'jose'
import type { TokenHash } from '../../protocol/identifiers.ts'

/** Of method jwt: which tokens of which issuer let a host in. */
export interface WorkloadProof {
  readonly method: 'jwt'
  /** What the tokens of its hosts are derived from; nobody has a text with this hash. */
  readonly useKey: TokenHash
  /** `iss`, to the letter. */
  readonly issuer: string
  /** Has to be in `aud`. */
  readonly audience: string
  /** All of them; never none. */
  readonly claims: readonly ClaimRule[]
  /** The claim that has to be the hostname, or its first label. */
  readonly hostnameClaim: string | null
  /** The keys themselves, or where they are; null for where the issuer says. */
  readonly keys: JSONWebKeySet | null
  readonly keysUrl: string | null
}

export interface ClaimRule {
  /** A name, or a JSON pointer. */
  readonly claim: string
  /** Any of these; `x*` for all that begins with `x`. */
  readonly values: readonly string[]
}
