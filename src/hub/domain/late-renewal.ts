// When a certificate should have been renewed. The hub asks no agent: it knows every certificate's life, and the agent's
// rule. docs/protocol.md MET.

import type { IssuedCertificate } from './issued-certificate.ts'

export type Lifetime = Pick<IssuedCertificate, 'notBefore' | 'notAfter'>

/**
 * An agent renews when less than the threshold, or a third of the life if that is less, is left (±10 %). Half of that
 * time is its margin: for polls, attempts a minute apart, and a hub or CA that was away for a while.
 */
export function lateFrom({ notBefore, notAfter }: Lifetime, thresholdMs: number): Date {
  const windowMs = renewalWindowMs(notAfter.getTime() - notBefore.getTime(), thresholdMs)
  return new Date(notAfter.getTime() - Math.trunc(windowMs / 2))
}

export function isLate(lifetime: Lifetime, now: Date, thresholdMs: number): boolean {
  return now >= lateFrom(lifetime, thresholdMs)
}

/** How long before its end an agent renews a certificate of such a life, without the ±10 %. */
export function renewalWindowMs(lifeMs: number, thresholdMs: number): number {
  return Math.min(thresholdMs, Math.trunc(lifeMs / 3))
}
