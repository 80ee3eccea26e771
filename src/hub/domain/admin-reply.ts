/** What a create was answered, sealed so that only the caller that asked can have it read again. */
export interface SealedReply {
  /** Derived from what the caller sent, hex. */
  readonly id: string
  readonly sealed: Uint8Array
  readonly expiresAt: Date
}
