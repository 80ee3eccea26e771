export interface RecoveryFacts {
  /** Of the identity. */
  readonly notAfter: Date
  /** By the hub's `Date`; undefined when it is not known. */
  readonly hubNow: Date | undefined
  /** The hub answered `certificate_expired`. */
  readonly hubSaidExpired: boolean
  /** Nothing came back from the mutual-TLS port: an expired certificate gets no answer there, only an alert. */
  readonly isHandshakeFailing: boolean
}

/** Why the identity has to be recovered, if it has to: renewal is for those that still open the door. docs/protocol.md REC. */
export function decideRecovery(facts: RecoveryFacts): string | undefined {
  if (facts.hubSaidExpired) return 'expired, says the hub'
  const isExpiredThere = facts.hubNow !== undefined && facts.notAfter <= facts.hubNow
  if (facts.isHandshakeFailing && isExpiredThere) return 'expired by the hub’s clock'
  return undefined
}
