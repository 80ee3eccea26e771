import type { RecoveryClaims } from '../../protocol/schemas.ts'
import type { Agent } from './agent.ts'
import { isSuperseded } from './decide-authentication.ts'
import { coversName } from './subject-alt-name.ts'
import type { IssuedCertificate } from './issued-certificate.ts'

/** How far a proof's `iat` may be from the hub's clock, either way. */
export const PROOF_AGE_MS_MAX = 5 * 60_000

export interface RecoverableFacts {
  /** The hub's own record of the presented certificate. */
  readonly certificate: IssuedCertificate | undefined
  readonly agent: Agent | undefined
  readonly graceMs: number
  readonly now: Date
}

export type RecoverableVerdict =
  | { readonly ok: true; readonly agent: Agent; readonly certificate: IssuedCertificate }
  | { readonly ok: false; readonly reason: string }

/**
 * May the holder of this identity's key replace the identity? Anybody may show it, so the hub has parsed nothing and checked no
 * proof at this point. The reason is for the log only. docs/protocol.md REC-9.
 */
export function decideRecoverable(facts: RecoverableFacts): RecoverableVerdict {
  const { certificate, agent, now } = facts
  if (facts.graceMs === 0) return refused('recovery is turned off')
  if (certificate === undefined || agent === undefined) return refused('unknown certificate')
  if (certificate.purpose !== 'identity') return refused('not an identity')
  if (agent.removedAt !== null) return refused('the agent was removed')
  if (agent.revokedAt !== null || certificate.revokedAt !== null) return refused('revoked')
  if (isSuperseded(certificate, agent, now)) return refused('superseded')
  if (now.getTime() > certificate.notAfter.getTime() + facts.graceMs) {
    return refused('expired for longer than the grace')
  }
  return { ok: true, agent, certificate }
}

export interface ProofFacts {
  /** What a proof with a valid signature says; undefined when it has none. */
  readonly claims: RecoveryClaims | undefined
  /** base64url, of the bytes of the CSR. */
  readonly csrSha256: string | undefined
  readonly hubNames: readonly string[]
  readonly now: Date
}

export type ProofVerdict =
  | { readonly ok: true; readonly jti: string }
  | { readonly ok: false; readonly reason: string }

/** Does the proof say that the key's holder asks this hub, now, for a certificate for this CSR? docs/protocol.md REC-2. */
export function decideProof({ claims, csrSha256, hubNames, now }: ProofFacts): ProofVerdict {
  if (claims === undefined) return refused('the proof is not signed by the key of the certificate')
  if (!hubNames.some((name) => coversName(name, claims.aud))) {
    return refused('the proof is for another hub')
  }
  if (Math.abs(claims.iat * 1000 - now.getTime()) > PROOF_AGE_MS_MAX) {
    return refused('the proof is too old, or from the future')
  }
  if (claims.csr_sha256 !== csrSha256) return refused('the proof is for another CSR')
  return { ok: true, jti: claims.jti }
}

function refused(reason: string): { readonly ok: false; readonly reason: string } {
  return { ok: false, reason }
}
