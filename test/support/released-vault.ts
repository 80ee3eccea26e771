/** What a released version said of its vault, in `expected.json` beside it. */
export interface ReleasedVault {
  readonly hostnames: readonly string[]
  readonly deliveries: number
  readonly events: number
  /** Of the last entry then; what this version adds comes after it. */
  readonly lastHash: string
  /** From 0.2.0 on. */
  readonly sealed?: SealedThen
  /** From 0.3.0 on. */
  readonly pushed?: PushedThen
  /** From 0.4.0 on. */
  readonly standing?: StandingThen
}

/** A carga selado for one host. */
export interface SealedThen {
  readonly cargaId: string
  readonly content: string
  /** Of the host's recipient. */
  readonly fingerprint: string
  readonly escrowIdentity: string
}

/** A file that waits for a host, which is also to renew its identity. */
export interface PushedThen {
  readonly hostname: string
  readonly sha256: string
}

/** What an operator has laid down, as `svc … list --json` told it. */
export interface StandingThen {
  readonly adminTokens: readonly object[]
  readonly politicas: readonly object[]
  readonly webhooks: readonly WebhookThen[]
}

export interface WebhookThen {
  readonly id: string
  readonly url: string
  readonly tipos: readonly string[]
}
