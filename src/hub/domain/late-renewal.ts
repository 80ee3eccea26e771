// When a certificate should have been renewed. The hub asks no agent: it knows every certificate's life, and the agent's
// rule. docs/protocol.md MET.

import type { CertificateState } from '../../protocol/admin/certificados.ts'
import type { IssuedCertificate } from './issued-certificate.ts'

export type Lifetime = Pick<IssuedCertificate, 'notBefore' | 'notAfter'>

/**
 * An agent renews when less than the threshold, or a third of the life if that is less, is left (±10 %). Half of that
 * time is its margin: for polls, attempts a minute apart, and a hub or CA that was away for a while.
 */
export function lateFrom(lifetime: Lifetime, thresholdMs: number): Date {
  return new Date(lifetime.notAfter.getTime() - Math.trunc(windowMsOf(lifetime, thresholdMs) / 2))
}

/** When its agent is expected to renew it; the agent does so up to a tenth of the window sooner or later. */
export function renewalFrom(lifetime: Lifetime, thresholdMs: number): Date {
  return new Date(lifetime.notAfter.getTime() - windowMsOf(lifetime, thresholdMs))
}

function windowMsOf({ notBefore, notAfter }: Lifetime, thresholdMs: number): number {
  return renewalWindowMs(notAfter.getTime() - notBefore.getTime(), thresholdMs)
}

/** How long before its end an agent renews a certificate of such a life, without the ±10 %. */
export function renewalWindowMs(lifeMs: number, thresholdMs: number): number {
  return Math.min(thresholdMs, Math.trunc(lifeMs / 3))
}

export function isLate(lifetime: Lifetime, now: Date, thresholdMs: number): boolean {
  return now >= lateFrom(lifetime, thresholdMs)
}

export function stateOfCertificate(
  lifetime: Lifetime,
  now: Date,
  thresholdMs: number,
): CertificateState {
  const windowMs = windowMsOf(lifetime, thresholdMs)
  return decideState({ notAfterMs: lifetime.notAfter.getTime(), windowMs }, now.getTime())
}

export function decideState(
  { notAfterMs, windowMs }: { readonly notAfterMs: number; readonly windowMs: number },
  nowMs: number,
): CertificateState {
  if (notAfterMs <= nowMs) return 'expired'
  if (notAfterMs - Math.trunc(windowMs / 2) <= nowMs) return 'late'
  return notAfterMs - windowMs <= nowMs ? 'renewing' : 'fresh'
}
