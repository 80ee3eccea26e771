export interface RecoveryFacts {
  /** Of the identity. */
  readonly notBefore: Date
  readonly notAfter: Date
  /** By the hub's `Date`; undefined when it is not known. */
  readonly hubNow: Date | undefined
  /** The hub answered `certificate_expired`. */
  readonly hubSaidExpired: boolean
  /** Nothing came back from the mutual-TLS port: a certificate out of its time gets no answer there, only an alert. */
  readonly isHandshakeFailing: boolean
}

/** Why the identity has to be recovered, if it has to: renewal is for identities that the hub still accepts. docs/protocol.md REC. */
export function decideRecovery(facts: RecoveryFacts): string | undefined {
  if (facts.hubSaidExpired) return 'expired, says the hub'
  if (!facts.isHandshakeFailing || facts.hubNow === undefined) return undefined
  if (facts.notAfter <= facts.hubNow) return 'expired by the hub’s clock'
  // Issued while that clock was ahead: it would be of no use for as long as it was.
  if (facts.notBefore > facts.hubNow) return 'not valid yet by the hub’s clock'
  return undefined
}
