// When a certificate is due for renewal.

import { createHash } from 'node:crypto'
import type { Certificate } from '../pki/certificates.ts'

export type Lifetime = Pick<Certificate, 'serial' | 'notBefore' | 'notAfter'>

/**
 * Below min(threshold, a third of the lifetime), ±10 %. The spread comes from the serial, so that it stays the same
 * for one certificate from poll to poll and differs over a fleet.
 */
export function isRenewalDue(certificate: Lifetime, now: Date, thresholdMs: number): boolean {
  return now >= renewalInstant(certificate, thresholdMs)
}

export function renewalInstant(
  { serial, notBefore, notAfter }: Lifetime,
  thresholdMs: number,
): Date {
  const lifetimeMs = notAfter.getTime() - notBefore.getTime()
  const effectiveMs = Math.min(thresholdMs, lifetimeMs / 3) * spreadOf(serial)
  return new Date(notAfter.getTime() - effectiveMs)
}

function spreadOf(serial: string): number {
  const fraction = createHash('sha256').update(serial).digest().readUInt32BE(0) / 2 ** 32
  return 0.9 + fraction * 0.2
}
