import type { WireErrorCode } from '../../protocol/errors.ts'
import type { CertificateRequest } from '../../pki/csr.ts'
import type { Agent } from './agent.ts'
import { type EnrollmentToken, isOpen } from './enrollment-token.ts'
import { coversName } from './subject-alt-name.ts'

export interface EnrollmentFacts {
  readonly token: EnrollmentToken | undefined
  readonly hostname: string
  readonly role: string
  /** The agent that has the hostname already. */
  readonly enrolledAgent: Agent | undefined
  /** The politicas of the role that it has and of the one that it gets leave it to operators to enrol it again. */
  readonly mayOperatorsReenroll: boolean
  /** No host may have one of them. */
  readonly hubNames: readonly string[]
  readonly now: Date
}

export type EnrollmentVerdict =
  | { readonly ok: true; readonly token: EnrollmentToken }
  | { readonly ok: false; readonly refusal: WireErrorCode }

/** The order of these lines is the order of ENR-3 to ENR-8 in docs/protocol.md; the CSR, which costs more, comes after them. */
export function decideEnrollment(facts: EnrollmentFacts): EnrollmentVerdict {
  const { token } = facts
  if (token === undefined) return { ok: false, refusal: 'token_not_found' }
  if (token.consumedAt !== null) return { ok: false, refusal: 'token_consumed' }
  if (!isOpen(token, facts.now)) return { ok: false, refusal: 'token_expired' }
  if (facts.hubNames.some((name) => coversName(name, token.expectedHostname))) {
    return { ok: false, refusal: 'hostname_mismatch' }
  }
  if (token.expectedHostname !== facts.hostname) return { ok: false, refusal: 'hostname_mismatch' }
  if (token.expectedRole !== facts.role) return { ok: false, refusal: 'role_mismatch' }
  if (facts.enrolledAgent !== undefined && !mayReenroll(token, facts)) {
    return { ok: false, refusal: 'agent_already_enrolled' }
  }
  return { ok: true, token }
}

/** By the politicas as they are now, and by the host as it is now: it may have another role than when the token was made. */
function mayReenroll(
  { isReenrollment, isOperators }: EnrollmentToken,
  { mayOperatorsReenroll }: EnrollmentFacts,
): boolean {
  return isReenrollment && (!isOperators || mayOperatorsReenroll)
}

/** ENR-9. Names come from us, not from the CSR: it may carry none, or exactly the one that it gets. The CN is the CA's to check. */
export function isCsrFor(
  { expectedHostname }: Pick<EnrollmentToken, 'expectedHostname'>,
  csr: CertificateRequest | undefined,
): csr is CertificateRequest {
  return csr?.sans !== undefined && csr.sans.every((name) => name === expectedHostname)
}
