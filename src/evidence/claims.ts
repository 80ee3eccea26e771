// What evidence says of one certificate: docs/protocol.md EVD-7 to EVD-9. The names are those of the file.

/** An entry of the log that says something, and whose act it was: `agent` for what the agent sent itself. */
export interface Fact {
  readonly seq: number
  readonly at: string
  readonly actor: string | null
}

export interface CertificateClaims {
  readonly serial: string | null
  readonly sha256: string | null
  readonly agente_id: string | null
  readonly hostname: string | null
  /** All of them, where the entry says so. */
  readonly names: readonly string[] | null
  readonly purpose: string | null
  readonly entrega_id: string | null
  readonly not_after: string | null
  /** How it was asked for; null where the entry does not say so. */
  readonly request: string | null
  /** The name of the policy that held; null for none, and where the entry does not say so. */
  readonly politica: string | null
  readonly issued: Fact
  readonly enrolled: (Fact & { readonly token_id: string | null }) | null
  readonly token: Fact | null
  readonly rule: Fact | null
  readonly load: (Fact & { readonly tipo_evento: string }) | null
  readonly retried: Fact | null
  readonly rotated: Fact | null
  recovered: Fact | null
  installed: Fact | null
  served: (Fact & { readonly alvo: string | null }) | null
  replaced: Fact | null
  cancelled: Fact | null
  revoked: Fact | null
  revoked_at_ca: Fact | null
  not_revoked_at_ca: Fact | null
  superseded_used: Fact | null
  /** Fields that hubs of earlier versions did not write into the entry. */
  readonly not_recorded: readonly string[]
}

/** The hub asked the CA, and nobody knows what it answered: a certificate with this key may be there. */
export interface LostAnswer {
  readonly seq: number
  readonly at: string
  readonly asked_at: string | null
  readonly request: string | null
  readonly hostname: string | null
  readonly names: readonly string[] | null
  readonly csr_sha256: string | null
  readonly key_sha256: string | null
  readonly reason: string | null
}

/** A line of the file: `ca` is whether the CA’s list has it, null without a list. */
export type CertificateLine = CertificateClaims & { readonly ca: boolean | null }
