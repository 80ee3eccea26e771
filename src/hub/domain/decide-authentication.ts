import type { WireErrorCode } from '../../protocol/errors.ts'
import type { Agent } from './agent.ts'
import type { IssuedCertificate } from './issued-certificate.ts'

/** How long an older identity is still served after a newer one was first used. */
export const SUPERSESSION_GRACE_MS = 60_000

/** `identity`: the very certificates that the hub obtained for the agent; `cn`: any of the CA's with its CN. */
export type IdentityMatch = 'identity' | 'cn'

export interface AuthenticationFacts {
  readonly agent: Agent | undefined
  /** The hub's own record of the presented certificate. */
  readonly certificate: IssuedCertificate | undefined
  readonly notAfter: Date
  readonly now: Date
  readonly identityMatch: IdentityMatch
}

export type AuthenticationVerdict =
  | {
      readonly ok: true
      readonly agent: Agent
      /** Set when this is the first use of an identity newer than the active one. */
      readonly activates: IssuedCertificate | undefined
    }
  | { readonly ok: false; readonly refusal: WireErrorCode }

/** May this client certificate act as the agent that its CN names? docs/protocol.md AUT. */
export function decideAuthentication(facts: AuthenticationFacts): AuthenticationVerdict {
  const { agent, certificate, now } = facts
  if (agent === undefined) return { ok: false, refusal: 'agent_not_registered' }
  if (agent.revokedAt !== null) return { ok: false, refusal: 'agent_revoked' }
  const isKnownIdentity = certificate?.agentId === agent.id && certificate.purpose === 'identity'
  if (!isKnownIdentity && facts.identityMatch === 'identity') {
    return { ok: false, refusal: 'agent_not_registered' }
  }
  if (certificate?.revokedAt) return { ok: false, refusal: 'agent_revoked' }
  if (facts.notAfter <= now) return { ok: false, refusal: 'certificate_expired' }
  if (!isKnownIdentity) return { ok: true, agent, activates: undefined }
  if (isSuperseded(certificate, agent, now)) return { ok: false, refusal: 'certificate_superseded' }
  const isNewest = agent.activeIdentity === null || certificate.seq > agent.activeIdentity.seq
  return { ok: true, agent, activates: isNewest ? certificate : undefined }
}

/**
 * All identities newer than the one in use are good until one of them is used; then, after the grace, the older ones
 * are not. Nothing is superseded by being issued, so a lost reply locks no agent out.
 */
export function isSuperseded(certificate: IssuedCertificate, agent: Agent, now: Date): boolean {
  const active = agent.activeIdentity
  if (active === null || certificate.seq >= active.seq) return false
  return now.getTime() > active.since.getTime() + SUPERSESSION_GRACE_MS
}
