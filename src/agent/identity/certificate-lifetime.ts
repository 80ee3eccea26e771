// When a certificate is due for renewal.

import { hash } from 'node:crypto'
import type { Certificate } from '../../pki/certificates.ts'
import type { HubTime } from '../hub/time.ts'

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

/**
 * Remembers which certificates are new. A certificate whose life was mostly over at its issue, from an issuer that backdates or
 * whose clock is behind the hub's, would be due at once, and so would its successor, for ever: the agent renews none before a
 * third of the life that was left at its issue has passed.
 */
export class NewCertificates {
  readonly #hubTime: Pick<HubTime, 'now'>
  readonly #newUntilMs = new Map<string, number>()

  constructor(hubTime: Pick<HubTime, 'now'>) {
    this.#hubTime = hubTime
  }

  note({ serial, notAfter }: Lifetime): void {
    const nowMs = this.#hubTime.now().getTime()
    for (const [other, untilMs] of this.#newUntilMs) {
      if (untilMs <= nowMs) this.#newUntilMs.delete(other)
    }
    this.#newUntilMs.set(serial, nowMs + (notAfter.getTime() - nowMs) / 3)
  }

  /** False for what came from an earlier process. */
  isNew({ serial }: Lifetime): boolean {
    const untilMs = this.#newUntilMs.get(serial)
    return untilMs !== undefined && this.#hubTime.now().getTime() < untilMs
  }
}

function spreadOf(serial: string): number {
  const fraction = hash('sha256', serial, 'buffer').readUInt32BE(0) / 2 ** 32
  return 0.9 + fraction * 0.2
}
