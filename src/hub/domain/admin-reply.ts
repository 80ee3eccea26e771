/** What a create was answered, sealed so that only whoever asked for it can have it read again. */
export interface SealedReply {
  /** Derived from what the caller sent, hex. */
  readonly id: string
  readonly sealed: Uint8Array
  readonly expiresAt: Date
}
