// Bounds that are the same everywhere; bounds that an operator can set are in protocol/hub-limits.ts.

export const LIMITS = {
  /** A token of the hub has 48; the token of a workload's platform may have more. */
  tokenCharactersMax: 8192,
  /** Of what a TPM says of its keys, in base64. docs/protocol.md JNR-41. */
  ekCertificateCharactersMax: 5464,
  ekCharactersMax: 684,
  akCharactersMax: 344,
  hostnameCharactersMax: 253,
  roleCharactersMax: 128,
  requestIdCharactersMax: 128,
  identityCharactersMax: 32 * 1024,
  proofCharactersMax: 4096,
  receiptCharactersMax: 2048,
  /** What an agent accepts from a hub. */
  replyBytesMax: 1024 * 1024,
  manifestDeliveriesMax: 1000,
  /** Roots that are trusted at one time. */
  rootsMax: 16,
  /** The greatest number of a set of roots that an agent reads, the greatest that an operator names, and how far ahead. */
  rootSetNumberMax: 2 ** 31 - 1,
  rootSetNumberNamedMax: 2 ** 31 - 1 - 1_000_000,
  rootSetNumberJumpMax: 1000,
  /** What a trust key signs, its signature, and how many changes of the key go with a set. docs/protocol.md TRK. */
  trustStatementCharactersMax: 4096,
  trustSignatureCharactersMax: 1024,
  trustKeyCharactersMax: 128,
  trustKeyChangesMax: 8,
  /** Of what a hub says of its log: a signed note, and how many of its newest epochs it tells. docs/protocol.md CHN-19. */
  logNoteCharactersMax: 4096,
  logEpochCharactersMax: 1024,
  logEpochsMax: 64,
} as const
